import { setTimeout as delay } from 'node:timers/promises';
import { executions, queryRows } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { testDatabase } from '@carillon/db/test-database';
import { gt, sql } from 'drizzle-orm';
import t from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { type ApiProcess, startApiProcess } from './api-process.ts';
import { type Answer, ask, JWT_SECRET, signInAll } from './clients.ts';
import { countStates, findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';

/** No execution starts for at most this long. */
const MAX_PAUSE_MS = 5000;
const USERS = 30;
const PER_USER = 30;

t.setTimeout(120_000);

t.test('A frozen worker that holds the locks of users delays the starts of others by at most 5 s', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer({ record: false });
  ai.answer(() => ({ delayMs: 20 }));
  t.teardown(ai.close);
  const env = { JWT_SECRET, RATE_LIMIT_MULTIPLIER: '1000', EXECUTION_CONCURRENCY: '20' };
  const settings = { databaseUrl, aiUrl: ai.url, leaseMs: 6000, env };
  const [frozen, other] = await Promise.all([startApiProcess(t, settings), startApiProcess(t, settings)]);
  const userIds = await insertPeople(db, USERS);
  const taskIds = await insertDueTasks(db, { userIds, perUser: PER_USER, at: new Date() });
  const tokens = await signInAll(db, userIds);
  const answers: (Answer & { path: string })[] = [];
  let isLoaded = true;
  await frozen.tick({ wait: false });
  const load = Promise.all(tokens.slice(0, 8).map((token, index) => sendRequests(token, taskIds[index * PER_USER])));

  await freezeWithLock(frozen);
  const frozenAt = new Date();
  answers.length = 0;
  await until(async () => (await db.$count(executions, gt(executions.startedAt, frozenAt))) > 0);
  const pauseMs = Date.now() - frozenAt.getTime();
  t.comment(`the next execution started after ${pauseMs} ms`);
  t.ok(pauseMs < MAX_PAUSE_MS, `${pauseMs} ms`);
  isLoaded = false;
  await load;
  t.ok(answers.length > 0);
  t.same(
    answers.filter(({ status }) => status !== 200 && status !== 201),
    [],
    `each of ${answers.length} requests is answered`,
  );
  t.same(
    other.log.filter(({ level }) => Number(level) >= 50),
    [],
    'the other process logs no error',
  );

  frozen.signal('SIGCONT');
  await until(async () => {
    const { pending, running } = await countStates(db);
    return pending + running === 0;
  });
  t.strictSame((await findNotOnce(db)).slice(8), [], 'each due task ran once');
  t.strictSame(await findWrongCounters(db), []);
  await other.end('SIGTERM');
  await insertDueTasks(db, { userIds: userIds.slice(0, 1), perUser: 1, at: new Date() });
  t.match(await frozen.tick(), { processed: 1, failed: 0 }, 'the frozen process continues with new work');
  t.strictSame(await frozen.end('SIGTERM'), { code: 0, signal: null });

  async function sendRequests(token: string, taskId: number | undefined) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    while (isLoaded) {
      const paths = ['/api/user', `/api/tasks/${taskId}`, '/api/usage'];
      for (const path of paths) answers.push({ path, ...(await ask(`${other.url}${path}`, { headers })) });
      const path = `/api/tasks/${taskId}`;
      const body = JSON.stringify({ description: `Changed ${answers.length} times` });
      answers.push({
        path: `PATCH ${path}`,
        ...(await ask(`${other.url}${path}`, { method: 'PATCH', headers, body })),
      });
    }
  }

  /** Repeats the freeze until the process holds the lock and its server process waits for its next statement. */
  async function freezeWithLock({ signal }: ApiProcess) {
    for (;;) {
      await until(async () => (await findIdleHolder()) !== null);
      signal('SIGSTOP');
      const holder = await findIdleHolder();
      // The other process would continue meanwhile.
      await delay(100);
      if (holder !== null && (await findIdleHolder()) === holder) return;
      signal('SIGCONT');
    }
  }

  async function findIdleHolder(): Promise<string | null> {
    const [holder] = await queryRows<{ key: string }>(
      db,
      sql`select a.pid || ' ' || a.query_start as key from pg_locks l join pg_stat_activity a using (pid)
        where l.locktype = 'advisory' and l.classid = ${ADVISORY_LOCKS.claimedUsers} and l.granted
          and l.database = (select oid from pg_database where datname = current_database())
          and a.state = 'idle in transaction'`,
    );
    return holder?.key ?? null;
  }
});
