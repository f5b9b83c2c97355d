import { executions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { backfillTask } from '../../../src/product/executions/start.ts';
import { listOccurrences } from '../../../src/product/tasks/occurrences.ts';
import { skipNextRun } from '../../../src/product/tasks/skip-next-run.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { START } from '../../support/context.ts';
import { buildCaller, testEngine } from '../../support/engine.ts';
import { signUp } from '../../support/people.ts';
import { insertTask, insertUsage, insertUsers, readLedger, readRuns, readUsage } from '../../support/task-rows.ts';

const { ctx, app, ai, clock, newProcess, newWorker } = await testEngine(t);

const HOUR_MS = 3_600_000;
/** Hours after `START`. */
const hours = (count: number) => new Date(START.getTime() + count * HOUR_MS);
const iso = (count: number) => hours(count).toISOString();
const period = (from: number, to: number) => ({ from: iso(from), to: iso(to) });

/** An hourly task that began `began` hours after `START` and is not due. */
const insertHourly = (userId: number, began: number, values: object = {}) =>
  insertTask(ctx, userId, {
    recurrencePattern: '0 * * * *',
    scheduledFor: hours(began),
    nextExecutionAt: hours(1),
    ...values,
  });

async function prepare(began = -50) {
  const alice = await signUp(app);
  const task = await insertHourly(alice.id, began);
  const send = (payload: object, id = task) =>
    app.inject({ method: 'POST', url: `/api/tasks/${id}/backfill`, headers: alice.headers, payload });
  return { alice, caller: buildCaller(alice.id), task, send };
}

const readHours = async (task: number) =>
  (await readRuns(ctx, task)).map(({ plannedFor }) => ((plannedFor?.getTime() ?? 0) - START.getTime()) / HOUR_MS);

t.test('Each instant of the period is run once, late, in order of time', async (t) => {
  const { caller, task, send } = await prepare();
  const answer = await send(period(-4, -1));
  t.equal(answer.statusCode, 201);
  t.strictSame(answer.json(), { success: true, queued: 4 });
  t.match(
    await readRuns(ctx, task),
    [-4, -3, -2, -1].map((hour) => ({ trigger: 'backfill', status: 'pending', plannedFor: hours(hour), attempt: 1 })),
  );
  ai.answer(() => {
    clock.advance(1000);
    return {};
  });
  await newWorker(t).drain();
  const runs = await readRuns(ctx, task);
  t.ok(runs.every(({ status }) => status === 'completed'));
  const starts = runs.map(({ startedAt }) => startedAt?.getTime() ?? 0);
  t.strictSame(
    starts,
    starts.toSorted((a, b) => a - b),
  );
  t.strictSame(
    (await readLedger(ctx, task)).map(([, fate]) => fate),
    ['late', 'late', 'late', 'late'],
  );
  const { occurrences } = await listOccurrences(ctx, caller, task, { limit: 20 });
  t.strictSame(
    occurrences.map(({ executionId }) => executionId),
    runs.map(({ id }) => id).toReversed(),
  );
});

t.test('The bounds are part of the period, and a millisecond within them leaves their instants out', async (t) => {
  const { alice, task, send } = await prepare();
  t.equal((await send(period(-2, -1))).json().queued, 2);
  const other = await insertHourly(alice.id, -50);
  const inside = { from: new Date(hours(-4).getTime() + 1), to: new Date(hours(-1).getTime() - 1) };
  t.equal((await send(inside, other)).json().queued, 2);
  t.strictSame(await readHours(task), [-2, -1]);
  t.strictSame(await readHours(other), [-3, -2]);
});

t.test('A second call queues nothing', async (t) => {
  const { caller, task, send } = await prepare();
  await send(period(-4, -1));
  t.strictSame((await send(period(-4, -1))).json(), { success: true, queued: 0 });
  await newWorker(t).drain();
  t.equal((await send(period(-5, -1))).json().queued, 1);
  t.equal((await readUsage(ctx, caller.id)).executions, 5);
  t.equal((await readRuns(ctx, task)).length, 5);
});

t.test('Only instants whose row in the ledger has no execution are run', async (t) => {
  const { alice, caller } = await prepare();
  const task = await insertTask(ctx, alice.id, { recurrencePattern: '0 * * * *' });
  await enqueueDue(ctx);
  clock.set(hours(1));
  await enqueueDue(ctx);
  await newWorker(t).drain();
  await skipNextRun(ctx, caller, task);
  clock.set(hours(5));
  await enqueueDue(ctx);
  await newWorker(t).drain();
  const before = ['late', 'skipped_overlap', 'skipped_by_user', 'missed', 'missed', 'ran'];
  t.strictSame(
    (await readLedger(ctx, task)).map(([, fate]) => fate),
    before,
  );
  t.equal(await backfillTask(ctx, caller, task, period(0, 5)), 4);
  t.strictSame(
    (await readLedger(ctx, task)).map(([, fate]) => fate),
    ['late', 'late', 'late', 'late', 'late', 'ran'],
  );
  t.strictSame(await readHours(task), [0, 5, 1, 2, 3, 4]);
});

t.test('An instant over quota is not run again', async (t) => {
  const { alice, caller } = await prepare();
  await insertUsage(ctx, alice.id, { executions: 50 });
  const task = await insertTask(ctx, alice.id, { recurrencePattern: '0 * * * *' });
  await enqueueDue(ctx);
  clock.set(hours(24));
  t.equal(await backfillTask(ctx, caller, task, period(-1, 0.5)), 0);
  t.strictSame(await readLedger(ctx, task), [[iso(0), 'over_quota']]);
});

t.test('A run whose execution was deleted by retention is not run again', async (t) => {
  const { caller, task } = await prepare();
  await backfillTask(ctx, caller, task, period(-2, -1));
  await newWorker(t).drain();
  await ctx.db.delete(executions).where(eq(executions.taskId, task));
  t.equal(await backfillTask(ctx, caller, task, period(-2, -1)), 0);
  await ctx.db.execute('delete from occurrences');
});

t.test('No instant before the first run is one of the schedule', async (t) => {
  const { task, send } = await prepare(-3);
  t.equal((await send(period(-1000, -1))).json().queued, 3);
  t.strictSame(await readHours(task), [-3, -2, -1]);
  const { task: future, send: sendToFuture } = await prepare(5);
  t.equal((await sendToFuture(period(-10, 0))).json().queued, 0);
  t.strictSame(await readRuns(ctx, future), []);
});

t.test('A task can be filled in in every status', async (t) => {
  const { alice, send } = await prepare();
  for (const status of ['paused', 'completed', 'failed'] as const) {
    const task = await insertHourly(alice.id, -50, { status, nextExecutionAt: null });
    t.equal((await send(period(-2, -1), task)).json().queued, 2, status);
  }
});

t.test('100 instants are queued, and 101 are refused', async (t) => {
  const [user] = await insertUsers(ctx, 1);
  const task = await insertHourly(user!, -500);
  const caller = buildCaller(user!);
  const details = { to: ['leaves more than 100 planned runs: give a shorter period'] };
  const refusal = await backfillTask(ctx, caller, task, period(-101, -1)).catch((error) => error);
  t.match(refusal, { kind: 'invalid', details });
  t.strictSame(await readLedger(ctx, task), []);
  t.equal(await backfillTask(ctx, caller, task, period(-100, -1)), 100);
});

t.test('A wrong period is refused with the field', async (t) => {
  const { send } = await prepare();
  const refused = async (payload: object) => {
    const answer = await send(payload);
    t.equal(answer.statusCode, 400, answer.body);
    return Object.keys(answer.json().details);
  };
  t.strictSame(await refused({ from: iso(-2), to: iso(-2) }), ['to']);
  t.strictSame(await refused({ from: iso(-1), to: iso(-2) }), ['to']);
  t.strictSame(await refused({ from: iso(-1), to: new Date(START.getTime() + 1) }), ['to']);
  t.strictSame(await refused({ from: iso(-1) }), ['to']);
  t.strictSame(await refused({ from: 'yesterday', to: iso(-1) }), ['from']);
  t.strictSame(await refused({ ...period(-2, -1), count: 2 }), ['count']);
  t.equal((await send({ from: iso(-1), to: START })).statusCode, 201);
});

t.test('The quotas admit all runs or none', async (t) => {
  const { alice, task, send } = await prepare();
  await insertUsage(ctx, alice.id, { executions: 47 });
  const answer = await send(period(-4, -1));
  t.equal(answer.statusCode, 402);
  t.match(answer.json().details, { resource: 'executions', used: 47, limit: 50 });
  t.strictSame(await readLedger(ctx, task), []);
  t.strictSame(await readRuns(ctx, task), []);
  t.equal((await send(period(-3, -1))).json().queued, 3);
  t.equal((await readUsage(ctx, alice.id)).executions, 50);
});

t.test("A stranger's task is not found", async (t) => {
  const { send } = await prepare();
  const { task } = await prepare();
  t.equal((await send(period(-4, -1), task)).statusCode, 404);
  t.strictSame(await readRuns(ctx, task), []);
});

t.test('Equal calls of two processes at once, and a tick between them, run each instant once', async (t) => {
  const { caller } = await prepare();
  const processes = [newProcess(t), newProcess(t)];
  for (let round = 0; round < 3; round++) {
    const task = await insertTask(ctx, caller.id, {
      recurrencePattern: '0 * * * *',
      scheduledFor: hours(-5),
      nextExecutionAt: hours(0),
    });
    const calls = [...processes, ...processes].map((process) => backfillTask(process.ctx, caller, task, period(-5, 0)));
    const ticks = processes.map((process) => enqueueDue(process.ctx));
    const counts = await Promise.all(calls);
    const enqueued = await Promise.all(ticks);
    const queued = counts.reduce((sum, count) => sum + count, 0);
    t.equal(queued + enqueued.flatMap(({ queued }) => queued).length, 6);
    t.strictSame(
      (await readHours(task)).toSorted((a, b) => a - b),
      [-5, -4, -3, -2, -1, 0],
    );
    t.equal((await readLedger(ctx, task)).length, 6);
    await Promise.all(processes.map(({ worker }) => worker.drain()));
    await changeTask(ctx, caller, task, { status: 'paused' });
  }
});
