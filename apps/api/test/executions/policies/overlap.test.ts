import { executions, tasks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import type { ClaimedExecution } from '../../../src/product/executions/pipeline/select-candidates.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { backfillTask, executeTask } from '../../../src/product/executions/start.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import {
  insertTask,
  insertTasks,
  insertUsage,
  insertUsers,
  readLedger,
  readRuns,
  readTaskRow,
  readUsage,
} from '../../support/task-rows.ts';
import { BUSY_OUTCOME } from '../../support/tasks.ts';

const { ctx, ai, clock, alice, newProcess } = await testEngine(t);

const HOUR_MS = 3_600_000;

const hours = (count: number) => new Date(START.getTime() + count * HOUR_MS);
const hourly = (overlap: 'skip' | 'queue' | 'cancel') =>
  insertTask(ctx, alice().id, { recurrencePattern: '0 * * * *', overlap });
const readFates = async (task: number) => (await readLedger(ctx, task)).map(([, fate]) => fate);
const readStatuses = async (task: number) => (await readRuns(ctx, task)).map(({ status }) => status);

/** Starts everything that may start. */
const start = async () => (await pipeline.claim(ctx, { limit: 100, after: 0 })).started;
const end = (runs: readonly ClaimedExecution[]) =>
  inTransaction(ctx, (tx) =>
    completeExecutions(
      tx,
      runs.map((run) => buildResult(run)),
    ),
  );

/** Runs the tick of each of these hours. */
async function tickAt(...given: number[]) {
  for (const hour of given) {
    clock.set(hours(hour));
    await enqueueDue(ctx);
  }
}

t.test('With `skip`, the instants during a run that outlasts three periods are skipped', async (t) => {
  const task = await hourly('skip');
  await tickAt(0);
  const running = await start();
  await tickAt(1, 2, 3);
  t.strictSame(await readFates(task), ['ran', 'skipped_overlap', 'skipped_overlap', 'skipped_overlap']);
  await end(running);
  await tickAt(4);
  t.strictSame((await readFates(task)).at(-1), 'ran');
  t.strictSame(await readStatuses(task), ['completed', 'pending']);
});

t.test('With `queue`, one instant during a run that outlasts three periods waits for its end', async (t) => {
  const task = await hourly('queue');
  await tickAt(0);
  const running = await start();
  await tickAt(1, 2, 3);
  t.strictSame(await readFates(task), ['ran', 'ran', 'skipped_overlap', 'skipped_overlap']);
  t.strictSame(await readStatuses(task), ['running', 'pending']);
  t.strictSame(await start(), [], 'it does not start before the other ends');
  await end(running);
  const next = await start();
  const [, second] = await readRuns(ctx, task);
  t.match(second, { status: 'running', plannedFor: hours(1) });
  t.strictSame(await readFates(task), ['ran', 'late', 'skipped_overlap', 'skipped_overlap']);
  await tickAt(4, 5);
  t.strictSame(await readFates(task), ['ran', 'late', 'skipped_overlap', 'skipped_overlap', 'ran', 'skipped_overlap']);
  await end(next);
  await end(await start());
  t.strictSame(await readStatuses(task), ['completed', 'completed', 'completed']);
});

t.test('With `queue`, one instant waits behind a run that has not started yet', async (t) => {
  const task = await hourly('queue');
  await tickAt(0, 1, 2, 3);
  t.strictSame(await readFates(task), ['ran', 'ran', 'skipped_overlap', 'skipped_overlap']);
  t.strictSame(await readStatuses(task), ['pending', 'pending']);
});

t.test('With `queue`, runs on demand do not take the place of the planned run that waits', async (t) => {
  const task = await hourly('queue');
  await executeTask(ctx, alice(), task);
  const running = await start();
  await executeTask(ctx, alice(), task);
  await tickAt(0, 1);
  t.strictSame(await readFates(task), ['ran', 'skipped_overlap']);
  t.strictSame(await readStatuses(task), ['running', 'pending', 'pending']);
  await end(running);
  await end(await start());
  await end(await start());
  t.strictSame(await readStatuses(task), ['completed', 'completed', 'completed']);
});

t.test('With `queue`, the latest of many missed instants waits, whatever makes up for missed runs', async (t) => {
  for (const missed of ['latest', 'all'] as const) {
    clock.set(START);
    const task = await insertTask(ctx, alice().id, { recurrencePattern: '0 * * * *', overlap: 'queue', missed });
    await tickAt(0);
    const running = await start();
    await tickAt(3.5);
    const older = missed === 'all' ? 'skipped_overlap' : 'missed';
    t.strictSame(await readFates(task), ['ran', older, older, 'late']);
    await end(running);
    await end(await start());
    await ctx.db.update(tasks).set({ nextExecutionAt: null }).where(eq(tasks.id, task));
  }
});

t.test('With `cancel`, each instant during a run that outlasts three periods replaces the run before', async (t) => {
  const task = await hourly('cancel');
  const runs: ClaimedExecution[] = [];
  for (const hour of [0, 1, 2, 3]) {
    await tickAt(hour);
    runs.push(...(await start()));
  }
  t.strictSame(await readFates(task), ['cancelled', 'cancelled', 'cancelled', 'ran']);
  t.strictSame(await readStatuses(task), ['failed', 'failed', 'failed', 'running']);
  await end(runs);
  const after = await readRuns(ctx, task);
  t.strictSame(
    after.map(({ status, errorCode }) => errorCode ?? status),
    ['CANCELLED', 'CANCELLED', 'CANCELLED', 'completed'],
    'late results of the replaced runs change nothing',
  );
  t.equal(after[0]?.error, 'The next planned run of the task replaced it.');
  t.match(await readTaskRow(ctx, task), { status: 'active', consecutiveFailures: 0 });
});

t.test('With `cancel`, a pending run gives its quota to the one that replaces it', async (t) => {
  const task = await hourly('cancel');
  await tickAt(0, 1, 2);
  t.strictSame(await readFates(task), ['cancelled', 'cancelled', 'ran']);
  t.strictSame(await readStatuses(task), ['failed', 'failed', 'pending']);
  t.equal((await readUsage(ctx, alice().id)).executions, 1);
});

t.test('With `cancel`, the retry of a planned run is cancelled, whether or not it is due', async (t) => {
  for (const hour of [1, 2]) {
    const task = await hourly('cancel');
    await tickAt(0);
    const [run] = await start();
    await inTransaction(ctx, (tx) => completeExecutions(tx, [{ ...BUSY_OUTCOME, ...run! }]));
    t.strictSame(await readStatuses(task), ['failed', 'pending']);
    await ctx.db
      .update(executions)
      .set({ runAt: hours(hour) })
      .where(eq(executions.status, 'pending'));
    await tickAt(1);
    const outcomes = (await readRuns(ctx, task)).map(({ status, errorCode }) => errorCode ?? status);
    t.strictSame(outcomes, ['RATE_LIMIT_EXCEEDED', 'CANCELLED', 'pending']);
    t.strictSame(await readFates(task), ['cancelled', 'ran']);
    await ctx.db.update(tasks).set({ nextExecutionAt: null }).where(eq(tasks.id, task));
    clock.set(START);
  }
});

t.test('With `cancel`, runs on demand and filled in runs go on, and the planned run waits for them', async (t) => {
  const task = await hourly('cancel');
  await executeTask(ctx, alice(), task);
  const running = await start();
  clock.set(hours(2.5));
  await ctx.db
    .update(tasks)
    .set({ nextExecutionAt: hours(3) })
    .where(eq(tasks.id, task));
  t.equal(await backfillTask(ctx, alice(), task, { from: hours(0).toISOString(), to: hours(1).toISOString() }), 2);
  await tickAt(3, 4);
  t.strictSame(await readFates(task), ['late', 'late', 'cancelled', 'ran']);
  t.strictSame(await readStatuses(task), ['running', 'pending', 'pending', 'failed', 'pending']);
  await end(running);
  for (let left = 0; left < 3; left++) await end(await start());
  t.strictSame(await readStatuses(task), ['completed', 'completed', 'completed', 'failed', 'completed']);
});

t.test('With `cancel`, a run that no quota admits cancels nothing', async (t) => {
  const task = await hourly('cancel');
  await insertUsage(ctx, alice().id, { executions: 49 });
  await tickAt(0);
  const running = await start();
  await tickAt(1);
  t.strictSame(await readFates(task), ['ran', 'over_quota']);
  t.strictSame(await readStatuses(task), ['running', 'failed']);
  await end(running);
  t.strictSame(await readStatuses(task), ['completed', 'failed']);
});

t.test('With `cancel`, the call of the replaced run is aborted at the process that makes it', async (t) => {
  const task = await hourly('cancel');
  const asked = Promise.withResolvers<void>();
  ai.answer(() => {
    asked.resolve();
    return { hang: 'head' };
  });
  const other = newProcess(t);
  await tickAt(0);
  other.worker.wakeExecutions();
  await asked.promise;
  ai.answer(() => ({}));
  await tickAt(1);
  other.worker.start();
  await ai.requests[0]?.hungUp;
  await other.worker.drain();
  t.strictSame(await readStatuses(task), ['failed', 'completed']);
});

for (const [overlap, waiting] of [
  ['skip', 0],
  ['queue', 1],
] as const) {
  t.test(`Two processes that tick at once with \`${overlap}\` leave ${waiting} planned runs waiting`, async (t) => {
    const made = await insertTasks(ctx, await insertUsers(ctx, 40), { recurrencePattern: '0 * * * *', overlap });
    await tickAt(0);
    const running = await start();
    t.equal(running.length, 40);
    const processes = [newProcess(t), newProcess(t)];
    for (const hour of [1, 2, 3]) {
      clock.set(hours(hour));
      await Promise.all([...processes, ...processes].map((process) => enqueueDue(process.ctx)));
    }
    const ledger = ['ran', waiting === 1 ? 'ran' : 'skipped_overlap', 'skipped_overlap', 'skipped_overlap'];
    for (const task of made) t.strictSame(await readFates(task), ledger);
    t.equal(await ctx.db.$count(executions, eq(executions.status, 'pending')), 40 * waiting);
    await end(running);
    await Promise.all(processes.map(({ worker }) => worker.drain()));
  });
}

t.test('Two processes that tick at once with `cancel` leave one run of the latest instant', async (t) => {
  const made = await insertTasks(ctx, await insertUsers(ctx, 40), {
    recurrencePattern: '0 * * * *',
    overlap: 'cancel',
  });
  const processes = [newProcess(t), newProcess(t)];
  const runs: ClaimedExecution[] = [];
  for (const hour of [0, 1, 2, 3]) {
    clock.set(hours(hour));
    await Promise.all(
      [...processes, ...processes].map((process) => enqueueDue({ ...process.ctx, worker: ctx.worker })),
    );
    runs.push(...(await start()));
  }
  for (const task of made) {
    t.strictSame(await readFates(task), ['cancelled', 'cancelled', 'cancelled', 'ran']);
    t.strictSame(await readStatuses(task), ['failed', 'failed', 'failed', 'running']);
  }
  await end(runs);
  t.equal(await ctx.db.$count(executions, eq(executions.status, 'completed')), 40);
});
