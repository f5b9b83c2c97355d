import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { resumeTasks, suspendTasks } from '../../../src/product/tasks/suspend.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask, readLedger, readRuns, readTaskRow } from '../../support/task-rows.ts';

const { ctx, ai, clock, alice, newWorker, newProcess, runDue } = await testEngine(t, {
  EXECUTION_RETRY_DELAYS: '1s,1s,1s',
});

const at = (text: string) => new Date(`2026-11-${text}:00.000Z`);
/** A daily task that is due now, at 10:00 on the 20th. */
const insertDaily = (values: Parameters<typeof insertTask>[2]) => insertTask(ctx, alice().id, values);
const stateOf = async (id: number) => {
  const { status, nextExecutionAt, plannedRuns } = await readTaskRow(ctx, id);
  return [status, nextExecutionAt?.toISOString() ?? null, plannedRuns];
};
const REFUSED = { status: 400, body: { error: { message: 'No.' } } };
function failFirst(count: number) {
  let calls = 0;
  ai.answer(() => {
    calls += 1;
    return calls <= count ? { status: 500 } : {};
  });
}

t.test('A task is completed once the last of its planned runs has succeeded, and not before it ends', async (t) => {
  const id = await insertDaily({ maxRuns: 2 });
  await runDue(t);
  t.strictSame(await stateOf(id), ['active', '2026-11-21T10:00:00.000Z', 1]);
  clock.set(at('21T10:00'));
  await enqueueDue(ctx);
  t.strictSame(await stateOf(id), ['active', null, 2], 'its last run is pending');
  await newWorker(t).drain();
  t.strictSame(await stateOf(id), ['completed', null, 2]);
  clock.set(at('25T10:00'));
  t.same((await runDue(t)).queued, []);
});

t.test('A task fails once the last of its planned runs has failed for good', async (t) => {
  const id = await insertDaily({ maxRuns: 1, maxRetries: 1 });
  ai.answer(() => ({ status: 500 }));
  await runDue(t);
  t.strictSame(await stateOf(id), ['active', null, 1], 'a retry follows');
  clock.advance(60_000);
  await runDue(t);
  t.strictSame(await stateOf(id), ['failed', null, 1]);
  t.same(
    (await readRuns(ctx, id)).map(({ trigger }) => trigger),
    ['schedule', 'retry'],
  );
});

t.test('The retry of the last planned run completes the task', async (t) => {
  const id = await insertDaily({ endsAt: at('21T10:00') });
  failFirst(1);
  await runDue(t);
  t.strictSame(await stateOf(id), ['active', null, 1]);
  clock.advance(60_000);
  await runDue(t);
  t.strictSame(await stateOf(id), ['completed', null, 1]);
});

t.test('No run starts at the end of a task or later, and one just before it does', async (t) => {
  const id = await insertDaily({ endsAt: at('21T10:00') });
  const longer = await insertDaily({ endsAt: new Date('2026-11-21T10:00:00.001Z') });
  await runDue(t);
  t.strictSame(await stateOf(id), ['completed', null, 1]);
  clock.set(at('22T12:00'));
  await runDue(t);
  t.strictSame(await stateOf(longer), ['completed', null, 2]);
  t.same(await readRuns(ctx, id).then((runs) => runs.length), 1);
});

t.test('After an outage over the end of a task one run makes up for those before it', async (t) => {
  const id = await insertDaily({ endsAt: at('23T10:00') });
  clock.set(at('29T12:00'));
  await runDue(t);
  t.strictSame(await stateOf(id), ['completed', null, 1]);
  t.same(await readLedger(ctx, id), [
    ['2026-11-20T10:00:00.000Z', 'missed'],
    ['2026-11-21T10:00:00.000Z', 'missed'],
    ['2026-11-22T10:00:00.000Z', 'late'],
  ]);
});

t.test('Of several missed runs those that the number of runs leaves are made up for', async (t) => {
  const id = await insertDaily({ maxRuns: 3, plannedRuns: 1, missed: 'all' });
  clock.set(at('29T12:00'));
  await runDue(t);
  t.strictSame(await stateOf(id), ['completed', null, 3]);
  t.same(await readLedger(ctx, id), [
    ['2026-11-20T10:00:00.000Z', 'late'],
    ['2026-11-21T10:00:00.000Z', 'late'],
  ]);
});

t.test('Runs on demand, retries and skipped runs do not count against the number of runs', async (t) => {
  const id = await insertDaily({ maxRuns: 2 });
  await executeTask(ctx, alice(), id);
  await enqueueDue(ctx);
  t.strictSame(await stateOf(id), ['active', '2026-11-21T10:00:00.000Z', 0], 'skipped: the run on demand is pending');
  failFirst(1);
  await newWorker(t).drain();
  clock.advance(60_000);
  await runDue(t);
  t.strictSame(await stateOf(id), ['active', '2026-11-21T10:00:00.000Z', 0]);
});

t.test('A task whose last planned run is skipped is completed by the end of the run that was in its way', async (t) => {
  const id = await insertDaily({ endsAt: at('20T11:00') });
  await executeTask(ctx, alice(), id);
  await enqueueDue(ctx);
  t.strictSame(await stateOf(id), ['active', null, 0]);
  await newWorker(t).drain();
  t.strictSame(await stateOf(id), ['completed', null, 0]);
});

t.test('A task ends with the later of its last planned run and a run on demand', async (t) => {
  const id = await insertDaily({ maxRuns: 1 });
  await enqueueDue(ctx);
  await executeTask(ctx, alice(), id);
  const seen: unknown[] = [];
  ai.answer(async () => {
    seen.push((await readTaskRow(ctx, id)).status);
    return seen.length === 1 ? {} : REFUSED;
  });
  await newWorker(t).drain();
  t.same(seen, ['active', 'active']);
  t.equal((await readTaskRow(ctx, id)).status, 'failed');
});

t.test('A task paused during its last run stays paused', async (t) => {
  const id = await insertDaily({ maxRuns: 1 });
  await enqueueDue(ctx);
  await changeTask(ctx, alice(), id, { status: 'paused' });
  await newWorker(t).drain();
  t.strictSame(await stateOf(id), ['paused', null, 1]);
  const resuming = changeTask(ctx, alice(), id, { status: 'active' });
  t.match(await resuming.catch((error) => error.details), { maxRuns: [/is reached/] });
  t.match(await changeTask(ctx, alice(), id, { status: 'active', maxRuns: 2 }), {
    status: 'active',
    nextExecutionAt: at('21T10:00'),
  });
});

t.test('A suspended account ends no task early, and its deleted runs do not count', async (t) => {
  const id = await insertDaily({ maxRuns: 2 });
  const last = await insertDaily({ maxRuns: 1 });
  const over = await insertDaily({ endsAt: at('22T00:00'), nextExecutionAt: at('21T10:00') });
  await enqueueDue(ctx);
  const suspend = async (isActive: boolean) => {
    await (isActive ? resumeTasks : suspendTasks)(ctx, alice().id);
    await ctx.db.update(users).set({ isActive }).where(eq(users.id, alice().id));
  };
  await suspend(false);
  t.strictSame(await stateOf(id), ['active', null, 0]);
  clock.set(at('23T12:00'));
  await suspend(true);
  t.strictSame(await stateOf(id), ['active', '2026-11-24T10:00:00.000Z', 0]);
  t.strictSame(await stateOf(last), ['active', '2026-11-24T10:00:00.000Z', 0]);
  t.strictSame(await stateOf(over), ['completed', null, 0], 'its end has passed');
});

t.test('The last run of a suspended account leaves a task with further runs active', async (t) => {
  const id = await insertDaily({ maxRuns: 5 });
  await enqueueDue(ctx);
  const worker = newWorker(t);
  ai.answer(async () => {
    await suspendTasks(ctx, alice().id);
    await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice().id));
    return {};
  });
  await worker.drain();
  t.strictSame(await stateOf(id), ['active', null, 1]);
  await ctx.db.update(users).set({ isActive: true }).where(eq(users.id, alice().id));
  await resumeTasks(ctx, alice().id);
  t.strictSame(await stateOf(id), ['active', '2026-11-21T10:00:00.000Z', 1]);
});

t.test('Two processes queue no more than the number of runs, and end each task once', async (t) => {
  const ids = await Promise.all(Array.from({ length: 40 }, () => insertDaily({ maxRuns: 2 })));
  const processes = [newProcess(t), newProcess(t)];
  for (let day = 20; day < 24; day += 1) {
    clock.set(at(`${day}T10:00`));
    await Promise.all([...processes, ...processes].map(({ ctx }) => enqueueDue(ctx)));
    await Promise.all(processes.map(({ worker }) => worker.drain()));
  }
  for (const id of ids) {
    t.strictSame(await stateOf(id), ['completed', null, 2]);
    t.equal((await readRuns(ctx, id)).length, 2);
  }
});
