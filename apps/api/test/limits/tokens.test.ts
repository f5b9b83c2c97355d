import { executions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../src/product/executions/pipeline/enqueue.ts';
import { handBackExecutions, rescueExecutions } from '../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../src/product/executions/pipeline.ts';
import { testEngine } from '../support/engine.ts';
import { passTime } from '../support/leases.ts';
import {
  insertQueuedRuns,
  insertTask,
  insertTasks,
  insertUsage,
  readLedger,
  readRun,
  readUsage,
} from '../support/task-rows.ts';

const { ctx, ai, clock, alice, newProcess, newWorker } = await testEngine(t);

const MIDNIGHT = '2026-11-21T00:00:00.000Z';
const countOf = (status: 'pending' | 'running' | 'completed' | 'failed') =>
  ctx.db.$count(executions, eq(executions.status, status));
const NOTHING = { started: [], refused: 0, lost: 0, next: 0, isContended: false, isFull: false };
const claim = async () => (await pipeline.claim(ctx, { limit: 100, after: 0 })).started;
const five = () => Array.from({ length: 5 }, () => alice().id);

t.test('One call starts one token below the limit; the others wait for it, and are then rejected', async (t) => {
  const held = Promise.withResolvers<void>();
  const reached = new Promise<void>((resolve) => {
    ai.answer(async () => {
      resolve();
      await held.promise;
      return {};
    });
  });
  await insertUsage(ctx, alice().id, { tokens: 99_999 });
  await insertQueuedRuns(ctx, await insertTasks(ctx, five(), { nextExecutionAt: null }));
  const processes = [newProcess(t), newProcess(t)];
  for (const { worker } of processes) worker.wakeExecutions();
  await reached;
  // The other processes may be trying at this moment.
  t.match(await pipeline.claim(ctx, { limit: 100, after: 0 }), { ...NOTHING, isContended: Boolean });
  t.strictSame([await countOf('running'), await countOf('pending')], [1, 4]);
  t.strictSame(await readUsage(ctx, alice().id), { executions: 5, tokens: 99_999, tokensReserved: 100 });

  held.resolve();
  for (const { worker } of processes) await worker.drain();
  t.strictSame([await countOf('completed'), await countOf('failed')], [1, 4]);
  t.equal(ai.requests.length, 1);
  const { executions: counted, tokens, tokensReserved } = await readUsage(ctx, alice().id);
  t.strictSame([counted, tokensReserved], [1, 0]);
  t.ok(tokens > 100_000);
});

t.test('Tokens that a call reserved and did not use let the others start', async (t) => {
  await insertUsage(ctx, alice().id, { tokens: 99_000 });
  await insertQueuedRuns(ctx, await insertTasks(ctx, five(), { nextExecutionAt: null, maxTokens: 800 }));
  const claimed = await claim();
  t.equal(claimed.length, 2);
  await handBackExecutions(ctx, claimed);
  await newWorker(t).drain();
  t.equal(await countOf('completed'), 5);
});

t.test('A planned run whose tokens are used up before it starts is `over_quota` in the ledger too', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await insertUsage(ctx, alice().id, { tokens: 100_000 });
  await newWorker(t).drain();
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'QUOTA_EXCEEDED', startedAt: null });
  t.match(await readLedger(ctx, task), [[/^2026/, 'over_quota']]);
  t.match(await readUsage(ctx, alice().id), { executions: 0 });
});

t.test('A run that waited over midnight counts on the day it starts', async (t) => {
  clock.set('2026-11-30T23:59:00.000Z');
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  t.match(await readUsage(ctx, alice().id, '2026-11-30'), { executions: 1 });
  clock.set('2026-12-01T00:00:00.000Z');
  await newWorker(t).drain();
  t.match(await readRun(ctx, task), { status: 'completed', usageDay: '2026-12-01' });
  for (const period of ['2026-11-30', '2026-11']) t.match(await readUsage(ctx, alice().id, period), { executions: 0 });
  for (const period of ['2026-12-01', '2026-12']) t.match(await readUsage(ctx, alice().id, period), { executions: 1 });
});

t.test('A run that starts before midnight and ends after it counts on the day it started', async (t) => {
  clock.set('2026-11-30T23:59:59.000Z');
  ai.answer(() => {
    clock.set('2026-12-01T00:00:01.000Z');
    return { usage: { promptTokens: 100, completionTokens: 10 } };
  });
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.match(await readUsage(ctx, alice().id, '2026-11-30'), { executions: 1, tokens: 110, tokensReserved: 0 });
  t.match(await readUsage(ctx, alice().id, '2026-12'), { executions: 0, tokens: 0, tokensReserved: 0 });
});

t.test('A new day whose quota is used up rejects a run that waited over midnight', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  clock.set(MIDNIGHT);
  await insertUsage(ctx, alice().id, { executions: 50 });
  await newWorker(t).drain();
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'QUOTA_EXCEEDED' });
  t.match(await readUsage(ctx, alice().id, '2026-11-20'), { executions: 0 });
});

t.test('A run that waits for tokens does not count on the new day', async (t) => {
  const made = await insertTasks(ctx, [alice().id, alice().id], { nextExecutionAt: null });
  await insertQueuedRuns(ctx, made);
  clock.set(MIDNIGHT);
  await insertQueuedRuns(ctx, [
    await insertTask(ctx, alice().id, { nextExecutionAt: null, maxTokens: 2000, prompt: 'First.' }),
  ]);
  await insertUsage(ctx, alice().id, { executions: 48, tokens: 99_000 });
  await ctx.db.execute("update executions set run_at = '2026-11-01' where usage_day = '2026-11-21'");
  t.match(await claim(), [{ prompt: 'First.' }]);
  t.strictSame(await pipeline.claim(ctx, { limit: 100, after: 0 }), NOTHING);
  t.equal(await countOf('pending'), 2);
});

t.test('An interrupted run gives its reservation back, is billed for its call, and counts once', async (t) => {
  const context = { clock: false, previousResult: false };
  await insertTask(ctx, alice().id, { prompt: 'x'.repeat(400), maxTokens: 5000, context });
  await enqueueDue(ctx);
  await claim();
  t.strictSame(await readUsage(ctx, alice().id), { executions: 1, tokens: 0, tokensReserved: 5000 });
  await passTime({ ctx, clock }, 30_001);
  await rescueExecutions(ctx);
  t.strictSame(await readUsage(ctx, alice().id), { executions: 1, tokens: 100, tokensReserved: 0 });
});

t.test('An interrupted run that starts again on the next day counts on that day only', async (t) => {
  await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await claim();
  clock.set(MIDNIGHT);
  await passTime({ ctx, clock }, 31_000);
  await rescueExecutions(ctx);
  await newWorker(t).drain();
  t.match(await readUsage(ctx, alice().id, '2026-11-20'), { executions: 0 });
  t.match(await readUsage(ctx, alice().id, '2026-11-21'), { executions: 1 });
});
