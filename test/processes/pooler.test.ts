import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { connect, type Db, queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { startReceiver } from '../../apps/api/test/support/servers/receiver.ts';
import { until } from '../../apps/api/test/support/until.ts';
import {
  skipWithoutPgBouncer as skip,
  skipBeforePgBouncer121,
  startPgBouncer,
} from '../../packages/db/test/pgbouncer.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';
import { ask, JWT_SECRET, signInAll } from './clients.ts';
import { findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';
import { followJourney } from './journey.ts';

const MAIN = fileURLToPath(new URL('../../apps/api/src/main.ts', import.meta.url));
const READS = 1500;
const CONCURRENCY = 60;
const ENV = { JWT_SECRET, ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'), RATE_LIMIT_MULTIPLIER: '1000' };

t.setTimeout(300_000);

const CASES = [
  { prepare: 'auto', keepsStatements: false, without: skip },
  { prepare: 'false', keepsStatements: false, without: skip },
  { prepare: 'auto', keepsStatements: true, without: skipBeforePgBouncer121 },
  { prepare: 'true', keepsStatements: true, without: skipBeforePgBouncer121 },
] as const;

for (const { prepare, keepsStatements, without } of CASES) {
  t.test(
    `Two processes serve everything in transaction mode, ${keepsStatements ? 'with' : 'without'} prepared statements and DATABASE_PREPARE=${prepare}`,
    { skip: without },
    async (t) => {
      const { db, url } = await testDatabase(t);
      const { url: databaseUrl } = await startPgBouncer(t, url, { mode: 'transaction', keepsStatements, poolSize: 3 });
      const ai = await startAiServer({ delayMs: 20 });
      t.teardown(ai.close);
      const receiver = await startReceiver(t);
      const settings = { databaseUrl, aiUrl: ai.url, env: { ...ENV, DATABASE_PREPARE: prepare } };
      const apis = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
      for (const api of apis) await until(async () => (await ask(`${api.url}/api/health/ready`)).status === 200);
      const reached = `through a pooler in transaction mode, ${keepsStatements ? 'with' : 'without'} prepared statements`;
      for (const { log } of apis)
        await until(() => log.some((line) => line.msg === 'started' && line.reached === reached));

      for (const from of [apis, apis.toReversed()]) await followJourney(t, { apis: from, receiver });
      await Promise.all([readAtOnce(t, db, apis), runAtOnce(t, db, apis)]);
      t.same(await findWrongCounters(db), []);
      const isFaulty = ({ level }: Record<string, unknown>) => Number(level) >= 40;
      t.same(
        apis.flatMap(({ log }) => log.filter(isFaulty)),
        [],
        'no process has logged a warning or an error',
      );
    },
  );
}

/** Each of 10 people reads the own tasks and account; every answer is the own one. */
async function readAtOnce(t: Test, db: Db, apis: readonly ApiProcess[]) {
  const userIds = await insertPeople(db, 10);
  const taskIds = await insertDueTasks(db, { userIds, perUser: 1, at: new Date('2030-01-01T00:00:00Z') });
  const tokens = await signInAll(db, userIds);
  const wrong: unknown[] = [];
  let sent = 0;
  const readOn = async () => {
    while (sent < READS) {
      const n = sent++;
      const who = n % tokens.length;
      const path = ['/api/tasks?limit=5', `/api/tasks/${taskIds[who]}`, '/api/auth/session'][n % 3];
      const headers = { authorization: `Bearer ${tokens[who]}` };
      const { status, body } = await ask(`${apis[n % apis.length]?.url}${path}`, { headers });
      const own = n % 3 === 2 ? `"id":${userIds[who]},` : `"id":${taskIds[who]},`;
      if (status !== 200 || !JSON.stringify(body).includes(own)) wrong.push([path, status, body]);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, readOn));
  t.same(wrong, [], `of ${sent} reads, none is wrong or refused`);
}

async function runAtOnce(t: Test, db: Db, apis: readonly ApiProcess[]) {
  const userIds = await insertPeople(db, 20);
  const due = new Set(await insertDueTasks(db, { userIds, perUser: 5, at: new Date() }));
  const ticks = await Promise.all(apis.flatMap((api) => [api.tick(), api.tick()]));
  t.equal(
    ticks.reduce((sum, { processed }) => sum + processed, 0),
    100,
  );
  const notOnce = await findNotOnce(db);
  t.same(
    notOnce.filter(({ id }) => due.has(id)),
    [],
    'each task that is due runs exactly once',
  );
}

t.test('Behind a pooler in transaction mode a process listens at DATABASE_DIRECT_URL', { skip }, async (t) => {
  const { db, url } = await testDatabase(t);
  const { url: databaseUrl } = await startPgBouncer(t, url, { mode: 'transaction' });
  const listeners = () =>
    queryRows(
      db,
      sql`select from pg_stat_activity where datname = current_database() and query = 'listen carillon_wake'`,
    );
  const isStarted = ({ log }: ApiProcess) => log.some(({ msg }) => msg === 'started');
  const without = await startApiProcess(t, { databaseUrl, aiUrl: 'offline' });
  await until(() => isStarted(without));
  t.same(await listeners(), []);
  const api = await startApiProcess(t, { databaseUrl, aiUrl: 'offline', env: { DATABASE_DIRECT_URL: url } });
  await until(async () => isStarted(api) && (await listeners()).length === 1);
  t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });
});

t.test('A pooler that loses prepared statements stops the start where they are required', { skip }, async (t) => {
  const { url } = await testDatabase(t);
  const { url: databaseUrl } = await startPgBouncer(t, url, { mode: 'transaction' });
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { DATABASE_URL: databaseUrl, DATABASE_PREPARE: 'true', AI_BASE_URL: 'offline', PORT: '0' };
  const child = spawn(process.execPath, [MAIN], {
    cwd: t.testdir(),
    env: { PATH, NODE_COMPILE_CACHE, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const [[code], printed] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  t.equal(code, 1);
  t.match(
    printed.trimEnd(),
    /^The pooler at 127\.0\.0\.1:\d+ loses prepared statements: remove DATABASE_PREPARE=true.*$/,
  );
});

t.test(
  'Behind a pooler with sessions the service starts, and its statements have their timeouts',
  { skip },
  async (t) => {
    const { url } = await testDatabase(t);
    const { url: pooled } = await startPgBouncer(t, url, { mode: 'session' });
    const env = { DATABASE_POOL: '3' };
    const api = await startApiProcess(t, { databaseUrl: pooled, aiUrl: 'offline', env });
    await until(async () => (await ask(`${api.url}/api/health/ready`)).status === 200);
    const { db, close } = connect(pooled, { max: 1 });
    t.teardown(close);
    const [timeouts] = await queryRows(
      db,
      sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle`,
    );
    t.same(timeouts, { statement: '3500ms', lock: '3s', idle: '1400ms' });
  },
);
