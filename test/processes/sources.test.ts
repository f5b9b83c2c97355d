import { queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { hashDefinition } from '../../apps/api/src/product/executions/sources/states.ts';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { startPageServer } from '../../apps/api/test/support/servers/page-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';

const LEASE_MS = 1500;
/** Each process reads what another one has stored. */
const ENCRYPTION_KEY = Buffer.alloc(32, 1).toString('base64');

t.setTimeout(180_000);

async function prepare(t: Test, { people = 6, perUser = 10 } = {}) {
  const { db, url: databaseUrl } = await testDatabase(t);
  const [ai, site] = await Promise.all([startAiServer(), startPageServer()]);
  t.teardown(ai.close);
  t.teardown(site.close);
  const userIds = await insertPeople(db, people);
  const taskIds = await insertDueTasks(db, { userIds, perUser, at: new Date() });
  await db.execute(sql`
    update tasks set recurrence = 'daily', run_if = 'changed',
      sources = json_build_array(json_build_object('name', 'page', 'url', ${site.url}::text || '/' || id))`);
  for (const id of taskIds) site.set(`/${id}`, { body: `Page ${id}`, etag: `"${id}"` });
  const settings = { databaseUrl, aiUrl: ai.url, env: { SOURCES_ALLOW: '127.0.0.1/32', ENCRYPTION_KEY } };
  const countFates = async () =>
    Object.fromEntries(
      (
        await queryRows<{ fate: string; count: number }>(
          db,
          sql`select fate, count(*)::int as count from occurrences group by 1`,
        )
      ).map(({ fate, count }) => [fate, count]),
    );
  const dueAgain = (shift: string) => db.execute(sql`update tasks set next_execution_at = now() - ${shift}::interval`);
  const countDone = async () => {
    const [row] = await queryRows<{ count: number }>(
      db,
      sql`select count(*)::int as count from executions where status = 'completed'`,
    );
    return row?.count ?? 0;
  };
  return { db, ai, site, taskIds, settings, countFates, countDone, dueAgain };
}

t.test('Two processes look at each source once, and run each task once', async (t) => {
  const { db, ai, site, taskIds, settings, countFates, countDone, dueAgain } = await prepare(t);
  const [one, two] = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
  await Promise.all([one, two, one, two].map((process) => process.tick({ wait: false })));
  await until(async () => (await countDone()) === taskIds.length);
  t.equal(site.paths.length, taskIds.length);
  t.equal(new Set(site.paths).size, taskIds.length);
  t.strictSame(await findNotOnce(db), []);

  await dueAgain('1 second');
  await Promise.all([one, two, one, two].map((process) => process.tick({ wait: false })));
  await until(async () => (await countFates()).unchanged === taskIds.length);
  t.equal(site.paths.length, 2 * taskIds.length);
  t.equal(ai.requests.length, taskIds.length, 'no model was asked again');
  t.strictSame(await findWrongCounters(db), []);
});

t.test('A process that is killed during its looks loses none: another one looks again', async (t) => {
  const { db, ai, site, taskIds, settings, countDone } = await prepare(t);
  const [half, rest] = [taskIds.slice(0, 30), taskIds.slice(30)];
  for (const id of half) site.set(`/${id}`, { hangs: true });
  const dying = await startApiProcess(t, { ...settings, leaseMs: LEASE_MS });
  await dying.tick({ wait: false });
  await until(() => half.every((id) => site.paths.includes(`/${id}`)));
  t.strictSame(await dying.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
  for (const id of half) site.set(`/${id}`, { body: `Page ${id}` });
  await startApiProcess(t, { ...settings, leaseMs: LEASE_MS });
  await until(async () => (await countDone()) === taskIds.length);
  t.strictSame(await findNotOnce(db), []);
  t.equal(ai.requests.length >= taskIds.length, true);
  for (const id of half) t.ok(site.paths.filter((path) => path === `/${id}`).length >= 2);
  t.ok(rest.length > 0);
  t.strictSame(await findWrongCounters(db), []);
});

t.test('A source that hangs delays only its own task: a hundred others run meanwhile', async (t) => {
  const { db, site, taskIds, settings, countDone } = await prepare(t, { people: 1, perUser: 101 });
  const [hanging] = taskIds;
  site.set(`/${hanging}`, { hangs: true });
  const one = await startApiProcess(t, settings);
  await one.tick({ wait: false });
  await until(async () => (await countDone()) === 100);
  const waiting = await queryRows<{ id: number }>(db, sql`select id from task_looks where waiting_since is not null`);
  t.same(waiting, [{ id: hanging }]);
  await until(async () => (await countDone()) === 101);
  const [run] = await queryRows<{ sources: unknown }>(
    db,
    sql`select sources from executions where task_id = ${hanging}`,
  );
  t.match(run?.sources, [{ status: 'failed', message: /10 s/ }]);
});

t.test('A thousand tasks with unchanged sources cause no call', async (t) => {
  const { db, ai, site, taskIds, settings, countFates } = await prepare(t, { people: 20, perUser: 50 });
  const path = '/page';
  site.set(path, { body: 'Same.', etag: '"a"' });
  const source = { name: 'page', url: `${site.url}${path}` };
  await db.execute(sql`update tasks set sources = ${JSON.stringify([source])}::json`);
  await db.execute(sql`
    insert into task_sources (id, task_id, name, definition, etag, digest, completed_digest, as_of)
    select gen_random_uuid(), id, 'page', ${hashDefinition(source)}, '"a"', 'd', 'd', now() from tasks`);
  const one = await startApiProcess(t, settings);
  const startedAt = performance.now();
  await one.tick({ wait: false });
  await until(async () => (await countFates()).unchanged === taskIds.length);
  t.comment(`1,000 looks took ${Math.round(performance.now() - startedAt)} ms`);
  t.strictSame(await countFates(), { unchanged: taskIds.length });
  t.equal(site.paths.length, taskIds.length);
  t.equal(ai.requests.length, 0);
  t.equal(await db.$count(sql`executions`), 0);
  const [saved] = await queryRows<{ runs: number }>(
    db,
    sql`select sum(saved_runs)::int as runs from usage_counters where length(period) = 7`,
  );
  t.equal(saved?.runs, taskIds.length);
});
