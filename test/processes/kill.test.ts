import { type Db, queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { countStates, findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';

const KILLS = 20;
const LEASE_MS = 1500;
const USERS = 12;
const PER_USER = 12;
const DAILY = 4;

// 21 starts take long on a busy machine.
t.setTimeout(300_000);

t.test('A process killed 20 times with 50 executions running loses nothing and runs nothing twice', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer({ record: false });
  t.teardown(ai.close);
  ai.answer((_request, index) => ({ delayMs: 200 + ((index * 37) % 200) }));
  const settings = { databaseUrl, aiUrl: ai.url, leaseMs: LEASE_MS, env: { EXECUTION_CONCURRENCY: '400' } };

  const planned = { tasks: 0, daily: 0 };
  let killedAt = 0;
  for (let kill = 1; kill <= KILLS; kill++) {
    // New users each time: those of interrupted runs have no free slot until these are taken over.
    const userIds = await insertPeople(db, USERS);
    const taskIds = await insertDueTasks(db, { userIds, perUser: PER_USER, at: new Date(), dailyEvery: DAILY });
    planned.tasks += taskIds.length;
    planned.daily += taskIds.length / DAILY;
    const startedAt = new Date();
    const api = await startApiProcess(t, settings);
    await api.tick({ wait: false });
    // The kill comes at varying moments: before the first answer, or between answers.
    await until(async () => {
      const { running, ended } = await countStarted(db, startedAt);
      return running >= 50 && ended >= (kill % 4) * 10;
    });
    killedAt = performance.now();
    t.strictSame(await api.end('SIGKILL'), { code: null, signal: 'SIGKILL' });
    t.strictSame(await findWrongCounters(db), [], `kill ${kill} leaves the counters right`);
  }

  const leftBehind = await runningTokens(db);
  t.ok(leftBehind.length > 0, 'the last kill interrupted executions');
  const api = await startApiProcess(t, settings);
  const restartedAt = performance.now();
  await until(async () => (await runningTokens(db)).every((token) => !leftBehind.includes(token)));
  const takenOverMs = performance.now() - restartedAt;
  t.comment(
    `${leftBehind.length} interrupted executions were taken over ${Math.round(performance.now() - killedAt)} ms after the kill, ${Math.round(takenOverMs)} ms after the restart`,
  );
  t.ok(takenOverMs < LEASE_MS + 5000, 'interrupted executions are taken over once their lease has ended');

  await until(async () => {
    await api.tick();
    const { pending, running } = await countStates(db);
    return pending + running === 0;
  });
  t.strictSame(await api.end('SIGTERM'), { code: 0, signal: null });

  t.strictSame(await findNotOnce(db), [], 'each due run has one ledger row and one execution');
  const [{ missed, ledger } = {}] = await queryRows<{ missed: number; ledger: number }>(
    db,
    sql`select count(*) filter (where fate = 'missed')::int as missed, count(*)::int as ledger from occurrences`,
  );
  t.strictSame({ missed, ledger }, { missed: planned.daily * 2, ledger: planned.tasks + planned.daily * 2 });
  const [{ ended, strange } = {}] = await queryRows<{ ended: number; strange: number }>(
    db,
    sql`select count(*) filter (where status in ('completed', 'failed'))::int as ended,
      count(*) filter (where status = 'failed' and error_code <> 'INTERRUPTED')::int as strange from executions`,
  );
  t.strictSame({ ended, strange }, { ended: planned.tasks, strange: 0 }, 'all ended, completed or INTERRUPTED');
  t.comment(await countStates(db));
  t.strictSame(await findWrongCounters(db), []);
});

async function countStarted(db: Db, since: Date): Promise<{ running: number; ended: number }> {
  const [counts] = await queryRows<{ running: number; ended: number }>(
    db,
    sql`select count(*) filter (where status = 'running')::int as running,
      count(*) filter (where status in ('completed', 'failed'))::int as ended
    from executions where started_at >= ${since.toISOString()}`,
  );
  return counts ?? { running: 0, ended: 0 };
}

async function runningTokens(db: Db): Promise<string[]> {
  const running = await queryRows<{ token: string }>(
    db,
    sql`select claim_token as token from executions where status = 'running'`,
  );
  return running.map(({ token }) => token);
}
