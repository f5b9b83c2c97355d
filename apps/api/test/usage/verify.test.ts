import { agentCalls, usageCounters, usageRecords } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import t from 'tap';
import { startCall } from '../../src/product/agent/calls.ts';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { findWrongCounters } from '../../src/product/usage/verify.ts';
import { testEngine } from '../support/engine.ts';
import { insertTask, insertTasks, insertUsage } from '../support/task-rows.ts';

const { ctx, alice, newWorker } = await testEngine(t);

const DAY = '2026-11-20';
const MONTH = '2026-11';
const counters = (executions: number, tokens: number, tokensReserved = 0) => ({ executions, tokens, tokensReserved });
const counter = (period: string) =>
  and(eq(usageCounters.userId, alice().id), eq(usageCounters.period, period)) as ReturnType<typeof eq>;
const correctCounters = async () => {
  await ctx.db.delete(usageCounters);
  await ctx.db.delete(usageRecords);
};

t.test('Pending, running and ended executions are in the sum', async (t) => {
  await insertTasks(ctx, [alice().id, alice().id]);
  await enqueueDue(ctx);
  t.same(await findWrongCounters(ctx.db), []);
  await newWorker(t).drain();
  t.same(await findWrongCounters(ctx.db), []);
  await ctx.db.execute(`update tasks set next_execution_at = '2026-11-20T10:00:00Z', scheduled_for = '2026-11-20'`);
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  t.equal((await pipeline.claim(ctx, { limit: 10, after: 0 })).started.length, 1);
  t.same(await findWrongCounters(ctx.db), []);
});

t.test('Calls of agent mode that are in progress are in the sum', async (t) => {
  const call = await startCall(ctx, alice(), { model: 'test-model', inputTokens: 5, maxTokens: 100 });
  t.same(await findWrongCounters(ctx.db), []);
  await ctx.db.delete(agentCalls);
  t.same(
    (await findWrongCounters(ctx.db)).map(({ counted, expected }) => [counted, expected]),
    Array(2).fill([counters(1, 0, call.tokensReserved), counters(0, 0)]),
  );
  await correctCounters();
});

t.test('A counter that is too high or too low is found, with the expected one', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 3, tokens: 500 });
  await ctx.db.update(usageCounters).set({ executions: 2, tokensReserved: 7 }).where(counter(DAY));
  await ctx.db.update(usageCounters).set({ tokens: 501 }).where(counter(MONTH));
  t.same(await findWrongCounters(ctx.db), [
    { userId: alice().id, period: MONTH, counted: counters(3, 501), expected: counters(3, 500) },
    { userId: alice().id, period: DAY, counted: counters(2, 500, 7), expected: counters(3, 500) },
  ]);
  await correctCounters();
});

t.test('A missing counter is found, and one without a ledger too', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 1, tokens: 9 });
  await ctx.db.delete(usageCounters).where(counter(DAY));
  await ctx.db.insert(usageCounters).values({ userId: alice().id, period: '2026-10', executions: 4 });
  t.same(await findWrongCounters(ctx.db), [
    { userId: alice().id, period: '2026-10', counted: counters(4, 0), expected: counters(0, 0) },
    { userId: alice().id, period: DAY, counted: counters(0, 0), expected: counters(1, 9) },
  ]);
  await correctCounters();
});

t.test('A counter of zeros equals a missing one', async (t) => {
  await ctx.db.insert(usageCounters).values({ userId: alice().id, period: DAY });
  t.same(await findWrongCounters(ctx.db), []);
});
