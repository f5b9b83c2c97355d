import { events, mails, notifications, usageRecords } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import { openSession } from '../../../src/product/auth/sessions.ts';
import { cancelExecution } from '../../../src/product/executions/cancel.ts';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { executeTask, retryExecution } from '../../../src/product/executions/start.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { assertNeedsSession } from '../../support/access.ts';
import { START } from '../../support/context.ts';
import { buildCaller, testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { passTime } from '../../support/leases.ts';
import { confirmAddresses } from '../../support/mails.ts';
import { signUpBob } from '../../support/people.ts';
import { insertTask, PROMPT, readLedger, readRun, readRuns, readTaskRow, readUsage } from '../../support/task-rows.ts';
import { INVALID_IDS } from '../../support/tasks.ts';

const { app, ctx, ai, clock, alice, newWorker } = await testEngine(t);

const OVERLOADED = { status: 503 };
const CANCELLED = { status: 'failed', errorCode: 'CANCELLED', error: 'The run was cancelled.', result: null };
const PLANNED = START.toISOString();
const later = (ms: number) => new Date(START.getTime() + ms);
const PROMPT_TOKENS = Math.ceil(PROMPT.length / 4);

/** A task without a system message, with a queued run. */
async function queuedRun(values = {}) {
  const context = { clock: false, previousResult: false };
  const task = await insertTask(ctx, alice().id, { context, ...values });
  await enqueueDue(ctx);
  return { task, id: (await readRun(ctx, task)).id };
}

async function runningRun(values = {}) {
  const run = await queuedRun(values);
  const { started } = await pipeline.claim(ctx, { limit: 10, after: 0 });
  const claimed = started.find(({ id }) => id === run.id);
  if (!claimed) throw new Error('The run was not claimed.');
  return { ...run, claimed };
}

/** A run that has failed, with its retry that waits. */
async function waitingRetry(t: Parameters<typeof newWorker>[0], values = {}) {
  ai.answer(() => OVERLOADED);
  const { task } = await queuedRun(values);
  await newWorker(t).drain();
  const [failed, retry] = await readRuns(ctx, task);
  return { task, failed: failed!.id, id: retry!.id };
}

t.test('A queued run ends as CANCELLED, gives its execution back, and the model is not asked', async (t) => {
  const { task, id } = await queuedRun();
  t.match(await readUsage(ctx, alice().id), { executions: 1 });
  clock.advance(500);
  const cancelled = await cancelExecution(ctx, alice(), id);
  t.match(cancelled, { id, ...CANCELLED, startedAt: null, completedAt: later(500), tokensUsed: null });
  t.strictSame(await readUsage(ctx, alice().id), { executions: 0, tokens: 0, tokensReserved: 0 });
  t.strictSame(await ctx.db.select().from(usageRecords), []);
  await newWorker(t).drain();
  t.equal(ai.requests.length, 0);
  t.match(await readRun(ctx, task), CANCELLED);
  t.strictSame(await readLedger(ctx, task), [[PLANNED, 'cancelled']]);
});

t.test('A running run ends at once, with an estimate of the request that it sent', async (t) => {
  const { task, id } = await runningRun({ maxTokens: 700 });
  t.strictSame(await readUsage(ctx, alice().id), { executions: 1, tokens: 0, tokensReserved: 700 });
  clock.advance(1500);
  const cancelled = await cancelExecution(ctx, alice(), id);
  const { completedAt, processingTimeMs, tokens } = cancelled;
  t.match({ ...cancelled }, { id, ...CANCELLED, model: 'test-model', costUsd: 0, startedAt: START });
  t.same({ completedAt, processingTimeMs }, { completedAt: later(1500), processingTimeMs: 1500 });
  t.same(tokens, { input: PROMPT_TOKENS, output: 0, total: PROMPT_TOKENS, estimated: true });
  t.strictSame(await readUsage(ctx, alice().id), { executions: 1, tokens: PROMPT_TOKENS, tokensReserved: 0 });
  t.match(await ctx.db.select().from(usageRecords), [
    { executionId: id, executions: 1, inputTokens: PROMPT_TOKENS, outputTokens: 0, estimated: true },
  ]);
  t.match(await readRun(ctx, task), { claimToken: null, leaseUntil: null, tokensReserved: 0 });
  t.strictSame(await readLedger(ctx, task), [[PLANNED, 'cancelled']]);
});

t.test('The result of a cancelled run is neither stored nor billed', async (t) => {
  const { task, id, claimed } = await runningRun();
  await cancelExecution(ctx, alice(), id);
  const before = [await readRun(ctx, task), await readUsage(ctx, alice().id)];
  const usage = { model: 'test-model', inputTokens: 50, outputTokens: 60, estimated: false, costUsd: 1 };
  t.strictSame(await inTransaction(ctx, (tx) => completeExecutions(tx, [buildResult(claimed, { usage })])), []);
  t.same([await readRun(ctx, task), await readUsage(ctx, alice().id)], before);
});

t.test(
  'The estimate counts what was sent, with the system message, and not the prompt that the task has now',
  async (t) => {
    const { task, id } = await runningRun({ context: { clock: true, previousResult: false } });
    await changeTask(ctx, alice(), task, { prompt: 'A much longer prompt. '.repeat(100) });
    const { request } = await readRun(ctx, task);
    const input = Math.ceil((PROMPT.length + request!.system!.length) / 4);
    t.ok(input > PROMPT_TOKENS);
    t.match(await cancelExecution(ctx, alice(), id), { tokens: { input } });
  },
);

t.test('A waiting retry ends without a quota, and its planned run counts as cancelled', async (t) => {
  const { task, id } = await waitingRetry(t);
  const before = await readUsage(ctx, alice().id);
  t.match(await cancelExecution(ctx, alice(), id), { id, ...CANCELLED, startedAt: null });
  t.strictSame(await readUsage(ctx, alice().id), before);
  t.strictSame(await readLedger(ctx, task), [[PLANNED, 'cancelled']]);
  clock.set(later(60_000));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
});

t.test('No retry follows a cancelled run, and the failures in a row stay as they are', async (t) => {
  const { task, id } = await runningRun({ consecutiveFailures: 4 });
  await cancelExecution(ctx, alice(), id);
  t.equal((await readRuns(ctx, task)).length, 1);
  t.match(await readTaskRow(ctx, task), { status: 'active', consecutiveFailures: 4, executionCount: 1 });
});

t.test('A cancelled retry leaves the failures in a row as they are too', async (t) => {
  const { task, id } = await waitingRetry(t, { consecutiveFailures: 2 });
  await cancelExecution(ctx, alice(), id);
  t.match(await readTaskRow(ctx, task), { status: 'active', consecutiveFailures: 2 });
});

t.test('The next planned run of a task comes after a cancelled one', async (t) => {
  const { task, id } = await runningRun();
  await cancelExecution(ctx, alice(), id);
  clock.advance(24 * 3_600_000);
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.match(await readRuns(ctx, task), [{ errorCode: 'CANCELLED' }, { status: 'completed' }]);
});

for (const [what, start] of [
  ['queued', queuedRun],
  ['running', runningRun],
] as const) {
  t.test(`A once task whose ${what} run is cancelled is failed, without a notification`, async (t) => {
    const { task, id } = await start({ recurrence: 'once' });
    await cancelExecution(ctx, alice(), id);
    t.match(await readTaskRow(ctx, task), { status: 'failed', consecutiveFailures: 0, nextExecutionAt: null });
    t.strictSame(await ctx.db.select().from(notifications), []);
    t.strictSame(await ctx.db.select().from(mails), []);
  });
}

t.test('A once task is failed when the retry of its run is cancelled, and completed by a run on demand', async (t) => {
  const { task, id } = await waitingRetry(t, { recurrence: 'once' });
  await cancelExecution(ctx, alice(), id);
  t.match(await readTaskRow(ctx, task), { status: 'failed' });
  ai.answer(() => ({}));
  await retryExecution(ctx, alice(), id);
  await newWorker(t).drain();
  t.match(await readTaskRow(ctx, task), { status: 'completed' });
});

t.test('A cancelled run on demand of a once task that has not run leaves it active', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrence: 'once', nextExecutionAt: later(60_000) });
  const { executionId } = await executeTask(ctx, alice(), task);
  await cancelExecution(ctx, alice(), executionId);
  t.match(await readTaskRow(ctx, task), { status: 'active', nextExecutionAt: later(60_000) });
  t.strictSame(await readLedger(ctx, task), []);
});

t.test('A cancelled run is mailed to no address', async (t) => {
  const notificationEmail = 'results@example.com';
  await confirmAddresses(ctx, alice().id, [notificationEmail]);
  await ctx.db.delete(mails);
  const { id } = await runningRun({ notificationEmail });
  await cancelExecution(ctx, alice(), id);
  t.strictSame(await ctx.db.select().from(mails), []);
});

t.test('The events of a cancelled run are those of a failure without a retry', async (t) => {
  const { task, id } = await runningRun();
  await cancelExecution(ctx, alice(), id);
  const found = await ctx.db.select().from(events).where(eq(events.taskId, task)).orderBy(asc(events.id));
  const last = found.at(-1);
  t.same(last?.kinds.toSorted(), ['execution.failed', 'task.failed']);
  t.match(JSON.parse(last?.data ?? ''), {
    execution: { id, status: 'failed', errorCode: 'CANCELLED', error: CANCELLED.error },
    retryScheduled: false,
    nextRetryAt: null,
  });
});

t.test('An interrupted run that waits again has been started: it stays counted, with its estimate', async (t) => {
  const { task, id } = await runningRun();
  await passTime({ ctx, clock }, 31_000);
  await rescueExecutions(ctx);
  t.match(await readRun(ctx, task), { status: 'pending', interruptions: 1 });
  t.match(await cancelExecution(ctx, alice(), id), CANCELLED);
  t.strictSame(await readUsage(ctx, alice().id), { executions: 1, tokens: PROMPT_TOKENS, tokensReserved: 0 });
});

t.test('A run that is cancelled after midnight is counted on the day of its start', async (t) => {
  clock.set(new Date('2026-11-20T23:59:59.000Z'));
  const { id } = await runningRun();
  clock.set(new Date('2026-11-21T00:00:01.000Z'));
  await cancelExecution(ctx, alice(), id);
  const first = { executions: 1, tokens: PROMPT_TOKENS, tokensReserved: 0 };
  t.strictSame(await readUsage(ctx, alice().id, '2026-11-20'), first);
  t.strictSame(await readUsage(ctx, alice().id, '2026-11-21'), { executions: 0, tokens: 0, tokensReserved: 0 });
});

t.test('A cancelled run can be retried on demand', async (t) => {
  const { task, id } = await runningRun();
  await cancelExecution(ctx, alice(), id);
  t.match(await retryExecution(ctx, alice(), id), { isNew: true });
  await newWorker(t).drain();
  t.match(await readRuns(ctx, task), [{ errorCode: 'CANCELLED' }, { status: 'completed', retryOfId: id }]);
});

t.test('A run that has ended is not cancelled: 409 with its status, and nothing changes', async (t) => {
  const completed = await queuedRun();
  await newWorker(t).drain();
  ai.answer(() => ({ status: 400 }));
  const failed = await queuedRun();
  await newWorker(t).drain();
  for (const [{ task, id }, status] of [
    [completed, 'completed'],
    [failed, 'failed'],
  ] as const) {
    const before = await readRun(ctx, task);
    const message = `This execution is ${status} and cannot be cancelled, because only pending and running executions can.`;
    await t.rejects(cancelExecution(ctx, alice(), id), { kind: 'conflict', message });
    t.same(await readRun(ctx, task), before);
  }
});

t.test('A stranger’s execution is not found, and goes on', async (t) => {
  const { task, id } = await runningRun();
  const bob = await signUpBob(app);
  await t.rejects(cancelExecution(ctx, buildCaller(bob.id), id), { kind: 'not_found', message: 'Execution not found' });
  await t.rejects(cancelExecution(ctx, alice(), 2_147_483_647), { message: 'Execution not found' });
  t.match(await readRun(ctx, task), { status: 'running' });
});

t.test(
  'The route answers 200 with the execution, 409 for an ended one, 404 for a stranger and for no id',
  async (t) => {
    const { id } = await queuedRun();
    const { token } = await openSession(ctx, alice().id);
    const bob = await signUpBob(app);
    const post = (at: number | string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
      app.inject({ method: 'POST', url: `/api/executions/${at}/cancel`, headers });
    t.equal((await post(id, bob.headers)).statusCode, 404);
    const cancelled = await post(id);
    t.equal(cancelled.statusCode, 200);
    t.match(cancelled.json(), { success: true, execution: { id, ...CANCELLED, completedAt: PLANNED } });
    const again = await post(id);
    t.equal(again.statusCode, 409);
    t.match(again.json(), { success: false, error: /is failed and cannot be cancelled/ });
    for (const invalid of INVALID_IDS) t.equal((await post(invalid)).statusCode, 404, invalid);
    await assertNeedsSession(t, app, { method: 'POST', url: `/api/executions/${id}/cancel` });
  },
);
