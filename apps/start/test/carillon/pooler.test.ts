import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type Db, queryRows, schedulerState } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { emptyDatabase } from '../../../../packages/db/test/empty-database.ts';
import {
  skipWithoutPgBouncer as skip,
  skipBeforePgBouncer121,
  startPgBouncer,
} from '../../../../packages/db/test/pgbouncer.ts';
import { insertPeople } from '../../../../test/processes/due-tasks.ts';
import { runChecks } from '../../src/carillon/doctor/run-checks.ts';
import { startHealthyInstallation } from './installation.ts';
import { openCarillon } from './run-carillon.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-pooler-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const { env, db } = await startHealthyInstallation(t, folder);
await db.update(schedulerState).set({ lastCalledAt: new Date() });
const url = env.DATABASE_URL ?? '';
const run = openCarillon(t);

/** The findings about the database, as `level: message`. */
async function check(overrides: Record<string, string>) {
  const findings = await runChecks({ ...env, ...overrides }, getTexts('en').doctor, { cwd: folder });
  return findings.filter(({ check }) => check === 'database').map(({ level, message }) => `${level}: ${message}`);
}

const DIRECT_URL_MISSING = /^warning: DATABASE_DIRECT_URL is not set/;
const NO_TIMEOUT = /^warning: Its role has no statement_timeout/;

t.test('The doctor says which pooler it found', { skip }, async (t) => {
  t.ok((await check({})).includes('ok: it is reached without a pooler'));
  const session = await startPgBouncer(t, url, { mode: 'session' });
  const throughSession = await check({ DATABASE_URL: session.url });
  t.ok(throughSession.includes('ok: it is reached through a pooler in session mode, with prepared statements'));
  t.notOk(throughSession.some((finding) => !finding.startsWith('ok')));

  const { url: pooled } = await startPgBouncer(t, url, { mode: 'transaction' });
  const found = await check({ DATABASE_URL: pooled });
  t.ok(found.includes('ok: it is reached through a pooler in transaction mode, without prepared statements'));
  t.match(
    found.filter((finding) => !finding.startsWith('ok')),
    [NO_TIMEOUT, DIRECT_URL_MISSING],
  );
  t.ok(found.some((finding) => /can use 20 connections of the pooler, whose limit is max_client_conn$/.test(finding)));
  t.match(
    (await check({ DATABASE_URL: pooled, DATABASE_PREPARE: 'true' })).filter((finding) => !finding.startsWith('ok')),
    [/^problem: The pooler at .* loses prepared statements/],
  );
});

t.test('The doctor finds prepared statements that are kept', { skip: skipBeforePgBouncer121 }, async (t) => {
  const { url: pooled } = await startPgBouncer(t, url, { mode: 'transaction', keepsStatements: true });
  t.ok(
    (await check({ DATABASE_URL: pooled })).includes(
      'ok: it is reached through a pooler in transaction mode, with prepared statements',
    ),
  );
});

t.test('The doctor finds statements that are needlessly not prepared', async (t) => {
  t.ok(
    (await check({ DATABASE_PREPARE: 'false' })).includes('warning: No statement is prepared, although they could be.'),
  );
});

t.test('The doctor checks DATABASE_DIRECT_URL', { skip }, async (t) => {
  const { url: pooled } = await startPgBouncer(t, url, { mode: 'transaction' });
  const checkDirect = async (direct: string) => {
    const found = await check({ DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct });
    return found.filter((finding) => finding.includes('DATABASE_DIRECT_URL'));
  };
  t.same(await checkDirect(url), ['ok: DATABASE_DIRECT_URL leads to the same database']);
  const { url: another } = await emptyDatabase(t, 'another');
  t.same(await checkDirect(another), ['problem: DATABASE_DIRECT_URL leads to another database.']);
  const second = await startPgBouncer(t, url, { mode: 'transaction' });
  t.same(await checkDirect(second.url), ['problem: DATABASE_DIRECT_URL leads to a pooler in transaction mode.']);
  t.match(await checkDirect('postgres://carillon@127.0.0.1:9/carillon'), [
    /^problem: DATABASE_DIRECT_URL: Nothing listens at the address/,
  ]);
});

t.test('A backup through a pooler in transaction mode is complete, and so is its restore', { skip }, async (t) => {
  await insertPeople(db, 500);
  await db.execute(sql`
    insert into audit_log (at, kind, details)
    select now(), 'user.changed', jsonb_build_object('text', repeat('x', 1000)) from generate_series(1, 5000)`);
  const to = await emptyDatabase(t, 'pooled_to');
  const archive = join(folder, 'pooled.tar.zst');
  const source = await startPgBouncer(t, url, { mode: 'transaction', poolSize: 1 });
  const target = await startPgBouncer(t, to.url, { mode: 'transaction', poolSize: 1 });
  // The backup itself writes its time, after the archive is complete.
  const archived = await digest(db);
  const backup = await run(['backup', archive, '--json'], { ...env, DATABASE_URL: source.url }, { cwd: folder });
  t.same([backup.code, backup.err], [0, '']);
  const restore = await run(['restore', archive, '--json'], { ...env, DATABASE_URL: target.url }, { cwd: folder });
  t.same([restore.code, restore.err], [0, '']);
  t.equal(JSON.parse(restore.out).rows, JSON.parse(backup.out).rows);
  const { db: restored, close } = connect(to.url);
  t.teardown(close);
  t.same(await digest(restored), archived);
  for (const { url } of [source, target]) {
    const { db: pooled, close } = connect(url);
    const settings = await queryRows(
      pooled,
      sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`,
    );
    t.same(settings, [{ statement: '0', lock: '0' }], 'no setting is left in the session');
    await close();
  }
});

/** A sum over the rows of each table. */
async function digest(db: Db) {
  const tables = await queryRows<{ name: string }>(
    db,
    sql`select relname as name from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relpersistence = 'p' order by 1`,
  );
  const sums: Record<string, unknown> = {};
  for (const { name } of tables) {
    const rows = sql`string_agg(to_jsonb(r)::text, ',' order by to_jsonb(r)::text)`;
    [sums[name]] = await queryRows(db, sql`select count(*)::int, md5(${rows}) as sum from ${sql.identifier(name)} r`);
  }
  return sums;
}

t.test('Commands go past the pooler where DATABASE_DIRECT_URL is set', async (t) => {
  const archive = join(folder, 'direct.tar.zst');
  const direct = { ...env, DATABASE_URL: 'postgres://carillon@127.0.0.1:9/carillon', DATABASE_DIRECT_URL: url };
  const { code, err } = await run(['backup', archive], direct, { cwd: folder });
  t.same([code, err], [0, '']);
});
