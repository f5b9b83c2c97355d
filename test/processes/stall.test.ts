import { executions, queryRows } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import { sql } from 'drizzle-orm';
import t from 'tap';
import { findWrongCounters } from '../../apps/api/src/product/usage/verify.ts';
import { type AiAnswer, startAiServer } from '../../apps/api/test/support/servers/ai-server.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { startApiProcess } from './api-process.ts';
import { countStates, findNotOnce, insertDueTasks, insertPeople } from './due-tasks.ts';

const LEASE_MS = 1500;
const TASKS = 5;

t.test('A worker that was stalled beyond its lease can neither finish nor bill what another took over', async (t) => {
  const { db, url: databaseUrl } = await testDatabase(t);
  const ai = await startAiServer();
  t.teardown(ai.close);
  const held: ((answer: AiAnswer) => void)[] = [];
  ai.answer(() => new Promise((resolve) => held.push(resolve)));
  const settings = { databaseUrl, aiUrl: ai.url, leaseMs: LEASE_MS };

  const stalled = await startApiProcess(t, settings);
  await insertDueTasks(db, { userIds: await insertPeople(db, 1), perUser: TASKS, at: new Date() });
  await stalled.tick({ wait: false });
  await until(() => held.length === TASKS);
  stalled.signal('SIGSTOP');
  const other = await startApiProcess(t, settings);
  await until(() => held.length === 2 * TASKS);

  // Three of its calls are answered when it wakes; it aborts the other two once it finds its leases taken over.
  for (const answer of held.slice(0, 3)) answer({ text: 'too late', usage: { promptTokens: 70, completionTokens: 7 } });
  stalled.signal('SIGCONT');
  await Promise.all(ai.requests.slice(3, TASKS).map(({ hungUp }) => hungUp));
  t.strictSame(await countStates(db), { pending: 0, running: TASKS, completed: 0, failed: 0 }, 'it finished nothing');
  const interrupted = { source: 'interrupted', executions: 0, estimated: true, count: TASKS };
  t.strictSame(await usage(), [{ ...interrupted, cost: 0 }], 'it billed nothing');
  t.strictSame(await findWrongCounters(db), []);

  const inTime = { text: 'in time', usage: { promptTokens: 20, completionTokens: 5, cost: 0.25 } };
  for (const answer of held.slice(TASKS)) answer(inTime);
  await until(async () => (await countStates(db)).completed === TASKS);
  const stored = await db.select({ result: executions.result, input: executions.inputTokens }).from(executions);
  t.strictSame(stored, Array(TASKS).fill({ result: 'in time', input: 20 }));
  const billed = { source: 'execution', executions: 1, estimated: false, count: TASKS, cost: 0.25 * TASKS };
  t.strictSame(await usage(), [billed, { ...interrupted, cost: 0 }]);
  t.equal(held.length, 2 * TASKS);

  ai.answer(() => ({}));
  t.strictSame(await other.end('SIGTERM'), { code: 0, signal: null });
  await insertDueTasks(db, { userIds: await insertPeople(db, 1), perUser: TASKS, at: new Date() });
  t.equal((await stalled.tick()).processed, TASKS, 'the stalled process continues with new work');
  t.strictSame(await findNotOnce(db), []);
  t.strictSame(await findWrongCounters(db), []);

  async function usage() {
    const found = await queryRows<object>(
      db,
      sql`select source, executions, estimated, count(*)::int, sum(cost_usd)::float8 as cost from usage_records
        group by source, executions, estimated order by source`,
    );
    return [...found];
  }
});
