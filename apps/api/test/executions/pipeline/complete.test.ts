import { DAY_MS } from '@carillon/contract/primitives';
import { notifications, usageRecords } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { passTime } from '../../support/leases.ts';
import type { AiAnswer } from '../../support/servers/ai-server.ts';
import { insertTask, readRun, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newWorker, runDue } = await testEngine(t);

const OVERLOADED: AiAnswer = { status: 503, body: { error: { message: 'Overloaded' } } };
const REFUSED: AiAnswer = { status: 400, body: { error: { message: 'No such model' } } };
const atSecond = (seconds: number) => new Date(START.getTime() + seconds * 1000);

t.test('A once task is completed by its execution, which moves `updatedAt`', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  clock.advance(5000);
  await runDue(t);
  const completed = { status: 'completed', nextExecutionAt: null, consecutiveFailures: 0, updatedAt: atSecond(5) };
  t.match(await readTaskRow(ctx, task), completed);
});

t.test('An execution that leaves the status as it is does not move `updatedAt`', async (t) => {
  const task = await insertTask(ctx, alice().id);
  const { updatedAt } = await readTaskRow(ctx, task);
  clock.advance(5000);
  await runDue(t);
  t.match(await readTaskRow(ctx, task), { status: 'active', executionCount: 1, updatedAt });
});

t.test('A once task fails when its last retry fails, and its owner is notified once', async (t) => {
  ai.answer(() => OVERLOADED);
  const task = await insertTask(ctx, alice().id, { recurrence: 'once', name: 'Water the plants' });
  for (const wait of [0, 60, 300, 900]) {
    clock.advance(wait * 1000);
    t.match(await readTaskRow(ctx, task), { status: 'active' });
    await runDue(t);
  }
  t.match(await readTaskRow(ctx, task), { status: 'failed', nextExecutionAt: null });
  t.match(await ctx.db.select().from(notifications), [
    { userId: alice().id, kind: 'task.failed', title: 'Task "Water the plants" failed', message: /Overloaded/ },
  ]);
});

t.test('A once task fails at once by an error that is not retried', async (t) => {
  ai.answer(() => REFUSED);
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  await runDue(t);
  t.equal((await readTaskRow(ctx, task)).status, 'failed');
});

t.test(
  'A recurring task fails after 5 failures in a row, has no next run then, and its owner is notified',
  async (t) => {
    ai.answer(() => REFUSED);
    const task = await insertTask(ctx, alice().id);
    for (let failures = 0; failures < 5; failures += 1) {
      t.match(await readTaskRow(ctx, task), { status: 'active', consecutiveFailures: failures });
      await runDue(t);
      clock.advance(DAY_MS);
    }
    t.match(await readTaskRow(ctx, task), { status: 'failed', consecutiveFailures: 5, nextExecutionAt: null });
    t.equal(await ctx.db.$count(notifications), 1);
    t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  },
);

t.test('Executions on demand count among the failures in a row, and one success resets the count', async (t) => {
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: new Date(START.getTime() + DAY_MS) });
  const outcomes = [REFUSED, REFUSED, REFUSED, REFUSED, {}, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED];
  const counts: number[] = [];
  for (const answer of outcomes) {
    ai.answer(() => answer);
    await executeTask(ctx, alice(), task);
    await newWorker(t).drain();
    counts.push((await readTaskRow(ctx, task)).consecutiveFailures);
  }
  t.strictSame(counts, [1, 2, 3, 4, 0, 1, 2, 3, 4, 5]);
  t.match(await readTaskRow(ctx, task), { status: 'failed', nextExecutionAt: null });
});

t.test('An execution on demand does not complete a once task whose own run is still planned', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrence: 'once', nextExecutionAt: atSecond(60) });
  for (const [answer, consecutiveFailures] of [
    [{}, 0],
    [REFUSED, 1],
  ] as const) {
    ai.answer(() => answer);
    await executeTask(ctx, alice(), task);
    await newWorker(t).drain();
    t.match(await readTaskRow(ctx, task), { status: 'active', nextExecutionAt: atSecond(60), consecutiveFailures });
  }
  ai.answer(() => ({}));
  clock.advance(60_000);
  await runDue(t);
  t.match(await readTaskRow(ctx, task), { status: 'completed', nextExecutionAt: null });
});

t.test('A once task that was rescheduled while it ran stays active', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  await enqueueDue(ctx);
  await changeTask(ctx, alice(), task, { scheduledFor: atSecond(60).toISOString() });
  await newWorker(t).drain();
  t.match(await readTaskRow(ctx, task), { status: 'active', nextExecutionAt: atSecond(60) });
  clock.advance(60_000);
  await runDue(t);
  t.match(await readTaskRow(ctx, task), { status: 'completed', executionCount: 2 });
});

t.test('An execution on demand beside the planned one of a once task does not decide its state', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  ai.answer(() => OVERLOADED);
  await runDue(t);
  ai.answer(() => ({}));
  await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  t.equal((await readTaskRow(ctx, task)).status, 'active');
  clock.advance(60_000);
  await runDue(t);
  t.equal((await readTaskRow(ctx, task)).status, 'completed');
});

t.test('A failed once task is completed by a successful execution on demand', async (t) => {
  ai.answer(() => REFUSED);
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  await runDue(t);
  ai.answer(() => ({}));
  await executeTask(ctx, alice(), task);
  await newWorker(t).drain();
  t.equal((await readTaskRow(ctx, task)).status, 'completed');
});

t.test('Of two results of one execution that arrive together, the one with the valid claim is stored', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  const [lost] = (await pipeline.claim(ctx, { limit: 1, after: 0 })).started;
  await passTime({ ctx, clock }, 30_001);
  await rescueExecutions(ctx);
  const [held] = (await pipeline.claim(ctx, { limit: 1, after: 0 })).started;
  const usage = { model: 'test-model', inputTokens: 10, outputTokens: 1, estimated: false, costUsd: 0 };
  const results = [
    buildResult(held!, { text: 'held', usage: { ...usage, outputTokens: 1 } }),
    buildResult(lost!, { text: 'lost', usage: { ...usage, outputTokens: 999 } }),
  ];
  t.strictSame(await inTransaction(ctx, (tx) => completeExecutions(tx, results)), [held!.id]);
  t.match(await readRun(ctx, task), { status: 'completed', result: 'held', outputTokens: 1 });
  t.match(await ctx.db.select().from(usageRecords).where(eq(usageRecords.source, 'execution')), [{ outputTokens: 1 }]);
  t.strictSame(await inTransaction(ctx, (tx) => completeExecutions(tx, results)), []);
});
