import t, { type Test } from 'tap';
import type { Context } from '../../../src/context.ts';
import { AppError } from '../../../src/errors.ts';
import { cancelExecution } from '../../../src/product/executions/cancel.ts';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { rescueExecutions } from '../../../src/product/executions/pipeline/leases.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { retryExecution } from '../../../src/product/executions/start.ts';
import { deleteTask } from '../../../src/product/tasks/delete.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { passTime } from '../../support/leases.ts';
import { insertTasks, readRun, readRuns, readTaskRow, readUsage } from '../../support/task-rows.ts';

// After each test, usage counters, usage records, ledger and executions agree: see `testEngine`.
const { ctx, ai, alice, clock, newProcess, newWorker } = await testEngine(t);

const ROUNDS = 12;
const USAGE = { model: 'test-model', inputTokens: 50, outputTokens: 60, estimated: false, costUsd: 0 };

/** Two processes with their own connections, whose workers do not run, and tasks whose runs are queued. */
async function race(t: Test) {
  const { worker } = ctx;
  const [one, two] = [newProcess(t), newProcess(t)].map((process) => ({ ...process.ctx, worker })) as [
    Context,
    Context,
  ];
  const taskIds = await insertTasks(ctx, Array(ROUNDS).fill(alice().id));
  await enqueueDue(ctx);
  const runs = await Promise.all(taskIds.map(async (task) => ({ task, id: (await readRun(ctx, task)).id })));
  return { one, two, runs };
}

/** Starts the runs whose places are free: 5 of a user. */
const startSome = async () => (await pipeline.claim(ctx, { limit: 5, after: 0 })).started;

/** `cancelled`, or the kind of the refusal. */
const outcomeOf = (cancelling: Promise<unknown>) =>
  cancelling.then(
    () => 'cancelled' as const,
    (error) => {
      if (error instanceof AppError) return error.kind;
      throw error;
    },
  );

const complete = (ctx: Context, claimed: Parameters<typeof buildResult>[0]) =>
  inTransaction(ctx, (tx) => completeExecutions(tx, [buildResult(claimed, { usage: USAGE })]));

t.test('A cancellation and a completion at once: one of them ends the run, and bills it once', async (t) => {
  const { one, two } = await race(t);
  for (let ended = 0; ended < 10; ended += 5) {
    for (const claimed of await startSome()) {
      const [outcome, completed] = await Promise.all([
        outcomeOf(cancelExecution(one, alice(), claimed.id)),
        complete(two, claimed),
      ]);
      const isCancelled = outcome === 'cancelled';
      t.strictSame(completed, isCancelled ? [] : [claimed.id]);
      t.match(await readRun(ctx, claimed.taskId), {
        status: isCancelled ? 'failed' : 'completed',
        tokensEstimated: isCancelled,
      });
    }
  }
});

t.test('A cancellation that comes during a completion waits for it, and is refused', async (t) => {
  const { one, two } = await race(t);
  const [claimed] = await startSome();
  const completed = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const completing = inTransaction(two, async (tx) => {
    await completeExecutions(tx, [buildResult(claimed!, { usage: USAGE })]);
    completed.resolve();
    await commit.promise;
  });
  await completed.promise;
  const cancelling = outcomeOf(cancelExecution(one, alice(), claimed!.id));
  commit.resolve();
  await completing;
  t.equal(await cancelling, 'conflict');
  t.match(await readRun(ctx, claimed!.taskId), { status: 'completed', outputTokens: 60 });
});

t.test('A completion that comes during a cancellation waits for it, and stores nothing', async (t) => {
  const { one, two, runs } = await race(t);
  const [claimed] = await startSome();
  const { task } = runs.find(({ id }) => id === claimed!.id)!;
  const cancelled = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const cancelling = inTransaction(one, async (tx) => {
    await cancelExecution(tx, alice(), claimed!.id);
    cancelled.resolve();
    await commit.promise;
  });
  await cancelled.promise;
  const completing = complete(two, claimed!);
  commit.resolve();
  await cancelling;
  t.strictSame(await completing, []);
  t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'CANCELLED' });
});

t.test('A cancellation and a claim at once: the run ends, started or not', async (t) => {
  const { one, two, runs } = await race(t);
  for (const { task, id } of runs) {
    const [outcome] = await Promise.all([
      outcomeOf(cancelExecution(one, alice(), id)),
      pipeline.claim(two, { limit: 1, after: 0 }),
    ]);
    t.equal(outcome, 'cancelled');
    t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'CANCELLED', claimToken: null });
  }
});

t.test('A cancellation and a rescue at once: the run ends, and is not queued again', async (t) => {
  const { one, two } = await race(t);
  const started = await startSome();
  await passTime({ ctx, clock }, 31_000);
  const [outcomes] = await Promise.all([
    Promise.all(started.map(({ id }) => outcomeOf(cancelExecution(one, alice(), id)))),
    rescueExecutions(two),
  ]);
  t.strictSame(new Set(outcomes), new Set(['cancelled']));
  for (const { taskId } of started) t.match(await readRun(ctx, taskId), { status: 'failed', errorCode: 'CANCELLED' });
});

t.test('Of two cancellations at once one is answered, and the other is refused', async (t) => {
  const { one, two, runs } = await race(t);
  await startSome();
  for (const { task, id } of runs) {
    const outcomes = await Promise.all([one, two].map((ctx) => outcomeOf(cancelExecution(ctx, alice(), id))));
    t.strictSame(outcomes.toSorted(), ['cancelled', 'conflict']);
    t.match(await readRun(ctx, task), { status: 'failed', errorCode: 'CANCELLED' });
  }
});

t.test('A cancellation and the deletion of the task at once: nothing is left, and usage is counted once', async (t) => {
  const { one, two, runs } = await race(t);
  await startSome();
  for (const { task, id } of runs) {
    const [outcome] = await Promise.all([outcomeOf(cancelExecution(one, alice(), id)), deleteTask(two, alice(), task)]);
    t.ok(['cancelled', 'not_found'].includes(outcome), outcome);
    t.strictSame(await readRuns(ctx, task), []);
  }
  t.match(await readUsage(ctx, alice().id), { tokensReserved: 0 });
});

/** Runs that have failed, with the retries that wait. */
async function raceOfRetries(t: Test) {
  ai.answer(() => ({ status: 503 }));
  const { one, two, runs } = await race(t);
  await newWorker(t).drain();
  const retries = await Promise.all(
    runs.map(async ({ task, id }) => ({ task, failed: id, id: (await readRuns(ctx, task))[1]!.id })),
  );
  return { one, two, retries };
}

t.test('A waiting retry that is cancelled and run now at once is cancelled, whatever was first', async (t) => {
  const { one, two, retries } = await raceOfRetries(t);
  for (const { task, failed, id } of retries) {
    const [outcome, retried] = await Promise.all([
      outcomeOf(cancelExecution(one, alice(), id)),
      retryExecution(two, alice(), failed),
    ]);
    t.equal(outcome, 'cancelled');
    const [, cancelled, another] = await readRuns(ctx, task);
    t.match(cancelled, { id, status: 'failed', errorCode: 'CANCELLED' });
    t.equal(another?.id, retried.isNew ? retried.executionId : undefined);
  }
});

t.test('A retry that is cancelled when it is due is not run', async (t) => {
  const { one, two, retries } = await raceOfRetries(t);
  clock.advance(60_000);
  const [outcomes] = await Promise.all([
    Promise.all(retries.map(({ id }) => outcomeOf(cancelExecution(one, alice(), id)))),
    enqueueDue(two),
  ]);
  t.strictSame(new Set(outcomes), new Set(['cancelled']));
  ai.requests.length = 0;
  await enqueueDue(ctx);
  await newWorker(t).drain();
  t.equal(ai.requests.length, 0);
});

t.test('A retry that is cancelled while its task is paused is gone or cancelled', async (t) => {
  const { one, two, retries } = await raceOfRetries(t);
  for (const { task, id } of retries) {
    const [outcome] = await Promise.all([
      outcomeOf(cancelExecution(one, alice(), id)),
      changeTask(two, alice(), task, { status: 'paused' }),
    ]);
    t.equal((await readRuns(ctx, task)).length, outcome === 'cancelled' ? 2 : 1, outcome);
    t.match(await readTaskRow(ctx, task), { status: 'paused', consecutiveFailures: 0 });
  }
});
