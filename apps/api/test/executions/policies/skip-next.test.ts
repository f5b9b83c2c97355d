import { DAY_MS } from '@carillon/contract/primitives';
import { events } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { executeTask } from '../../../src/product/executions/start.ts';
import { skipNextRun } from '../../../src/product/tasks/skip-next-run.ts';
import { getTaskWithRuns } from '../../../src/product/tasks/task-page.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { START } from '../../support/context.ts';
import { buildCaller, testEngine } from '../../support/engine.ts';
import { signUp } from '../../support/people.ts';
import { insertTask, insertTasks, readLedger, readRuns, readTaskRow } from '../../support/task-rows.ts';

const { ctx, app, clock, newProcess, newWorker } = await testEngine(t);

const days = (count: number) => new Date(START.getTime() + count * DAY_MS);
const iso = (count: number) => days(count).toISOString();

/** A daily task whose next run is in a day. */
const insertDaily = (userId: number, values: object = {}) =>
  insertTask(ctx, userId, { nextExecutionAt: days(1), ...values });

async function prepare() {
  const alice = await signUp(app);
  const send = (id: number, headers: object = {}) =>
    app.inject({ method: 'POST', url: `/api/tasks/${id}/skip-next`, headers: { ...alice.headers, ...headers } });
  return { alice, caller: buildCaller(alice.id), send };
}

t.test('The next run is recorded as skipped, and the task continues with the one after it', async (t) => {
  const { alice, caller, send } = await prepare();
  const task = await insertDaily(alice.id);
  const answer = await send(task);
  t.equal(answer.statusCode, 200);
  t.match(answer.json(), {
    success: true,
    occurrence: { plannedFor: iso(1), fate: 'skipped_by_user', recordedAt: iso(0), executionId: null },
    task: { id: task, status: 'active', nextExecutionAt: iso(2) },
  });
  clock.set(days(1));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame((await getTaskWithRuns(ctx, caller, task)).next.map(({ at }) => at).slice(0, 2), [days(2), days(3)]);
  clock.set(days(2));
  await enqueueDue(ctx);
  t.strictSame(await readLedger(ctx, task), [
    [iso(1), 'skipped_by_user'],
    [iso(2), 'ran'],
  ]);
});

t.test('The page of a task does not list a skipped run as a next one', async (t) => {
  const { alice, caller } = await prepare();
  const task = await insertDaily(alice.id);
  await skipNextRun(ctx, caller, task);
  await skipNextRun(ctx, caller, task);
  t.strictSame((await getTaskWithRuns(ctx, caller, task)).next[0]?.at, days(3));
});

t.test('A skip changes the ETag, and sends task.updated with the next run before and after', async (t) => {
  const { alice, send } = await prepare();
  const task = await insertDaily(alice.id);
  const read = async () => (await app.inject({ url: `/api/tasks/${task}`, headers: alice.headers })).headers.etag;
  const before = await read();
  const skipped = await send(task);
  t.not(skipped.headers.etag, before);
  t.equal(await read(), skipped.headers.etag);
  const recorded = await ctx.db.select().from(events).where(eq(events.taskId, task));
  t.strictSame(
    recorded.map(({ kinds, data }) => [kinds, JSON.parse(String(data)).changes]),
    [[['task.updated'], { nextExecutionAt: { from: iso(1), to: iso(2) } }]],
  );
});

t.test('A task without a next run, and a stranger, skip nothing', async (t) => {
  const { alice, send } = await prepare();
  const bob = await signUp(app);
  const paused = await insertTask(ctx, alice.id, { status: 'paused', nextExecutionAt: null });
  const answer = await send(paused);
  t.equal(answer.statusCode, 409);
  t.match(answer.json(), { error: 'The task has no next run to skip.' });
  const task = await insertDaily(alice.id);
  const stranger = await app.inject({ method: 'POST', url: `/api/tasks/${task}/skip-next`, headers: bob.headers });
  t.equal(stranger.statusCode, 404);
  t.strictSame(await readLedger(ctx, paused), []);
  t.strictSame(await readLedger(ctx, task), []);
});

t.test('A once task whose only run is skipped is completed', async (t) => {
  const { alice, send } = await prepare();
  const task = await insertDaily(alice.id, { recurrence: 'once', scheduledFor: days(1) });
  t.match((await send(task)).json(), { task: { status: 'completed', nextExecutionAt: null } });
  t.equal((await send(task)).statusCode, 409);
  t.strictSame(await readLedger(ctx, task), [[iso(1), 'skipped_by_user']]);
});

t.test('Skipping the last run before the end completes the task, after a run that is under way', async (t) => {
  const { alice, caller, send } = await prepare();
  const idle = await insertDaily(alice.id, { endsAt: days(2) });
  t.match((await send(idle)).json(), { task: { status: 'completed', nextExecutionAt: null } });
  const busy = await insertDaily(alice.id, { endsAt: days(2) });
  await executeTask(ctx, caller, busy);
  t.match((await send(busy)).json(), { task: { status: 'active', nextExecutionAt: null } });
  await newWorker(t).drain();
  t.match(await readTaskRow(ctx, busy), { status: 'completed', nextExecutionAt: null });
});

t.test('A skipped run does not count against maxRuns, and a pause is respected', async (t) => {
  const { alice, send } = await prepare();
  const limited = await insertDaily(alice.id, { maxRuns: 1 });
  t.match((await send(limited)).json(), { task: { status: 'active', nextExecutionAt: iso(2) } });
  clock.set(days(2));
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  clock.set(START);
  const paused = await insertDaily(alice.id, { pausedUntil: days(5), nextExecutionAt: days(5) });
  t.match((await send(paused)).json(), {
    occurrence: { plannedFor: iso(5) },
    task: { nextExecutionAt: iso(6) },
  });
});

t.test('A later end keeps skips', async (t) => {
  const { alice, caller, send } = await prepare();
  const task = await insertDaily(alice.id, { endsAt: days(10) });
  await send(task);
  await changeTask(ctx, caller, task, { endsAt: iso(20), maxRuns: 7 });
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, days(2));
  t.strictSame(await readLedger(ctx, task), [[iso(1), 'skipped_by_user']]);
});

t.test('Of ten skips with one ETag exactly one succeeds, and of ten without each skips another run', async (t) => {
  const { alice, send } = await prepare();
  const task = await insertDaily(alice.id);
  const { etag } = (await app.inject({ url: `/api/tasks/${task}`, headers: alice.headers })).headers;
  const repeat = (headers: object) => Promise.all(Array.from({ length: 10 }, () => send(task, headers)));
  const codes = (await repeat({ 'if-match': etag })).map(({ statusCode }) => statusCode);
  t.strictSame(codes.toSorted(), [200, ...Array.from({ length: 9 }, () => 412)]);
  const skipped = (await repeat({})).map((answer) => answer.json().occurrence.plannedFor);
  t.strictSame(
    skipped.toSorted(),
    Array.from({ length: 10 }, (_, at) => iso(at + 2)),
  );
  t.equal((await readLedger(ctx, task)).length, 11);
});

t.test('A page that shows another next run skips nothing', async (t) => {
  const { alice, caller } = await prepare();
  const task = await insertDaily(alice.id);
  await skipNextRun(ctx, caller, task, { plannedFor: days(1) });
  await t.rejects(skipNextRun(ctx, caller, task, { plannedFor: days(1) }), {
    message: 'This is no longer the next run.',
  });
  t.strictSame(await readLedger(ctx, task), [[iso(1), 'skipped_by_user']]);
});

t.test('A skip that meets ticks of two processes: a due instant runs or is skipped, never both', async (t) => {
  const { alice, caller } = await prepare();
  const processes = [newProcess(t), newProcess(t)];
  const fates: string[] = [];
  for (let round = 0; round < 10; round++) {
    const tasks = await insertTasks(ctx, [alice.id, alice.id, alice.id, alice.id]);
    const skips = tasks.map((task) => skipNextRun(processes[task % 2]!.ctx, caller, task));
    await Promise.all([...skips, ...processes.map((process) => enqueueDue(process.ctx))]);
    for (const task of tasks) {
      const ledger = await readLedger(ctx, task);
      const runs = await readRuns(ctx, task);
      const skipped = ledger.filter(([, fate]) => fate === 'skipped_by_user');
      t.equal(skipped.length, 1);
      t.equal(runs.length, ledger.length - 1);
      t.notOk(runs.some(({ plannedFor }) => plannedFor?.toISOString() === skipped[0]?.[0]));
      t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, days(ledger.length));
      fates.push(ledger[0]![1]);
    }
    await Promise.all(processes.map(({ worker }) => worker.drain()));
  }
  t.equal(fates.length, 40);
});

t.test('Pausing and resuming takes skips back', async (t) => {
  const { alice, caller, send } = await prepare();
  const task = await insertDaily(alice.id);
  await send(task);
  await changeTask(ctx, caller, task, { status: 'paused' });
  t.strictSame(await readLedger(ctx, task), [[iso(1), 'skipped_by_user']]);
  await changeTask(ctx, caller, task, { status: 'active' });
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, days(1));
  t.strictSame(await readLedger(ctx, task), []);
  clock.set(days(1));
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  t.strictSame(await readLedger(ctx, task), [[iso(1), 'ran']]);
});

t.test('A change of other fields keeps skips', async (t) => {
  const { alice, caller, send } = await prepare();
  const task = await insertDaily(alice.id);
  await send(task);
  await changeTask(ctx, caller, task, { name: 'Another name' });
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, days(2));
  t.strictSame(await readLedger(ctx, task), [[iso(1), 'skipped_by_user']]);
});

t.test('A run that is due and not yet planned can be skipped', async (t) => {
  const { alice, send } = await prepare();
  const task = await insertDaily(alice.id);
  clock.set(days(1));
  t.equal((await send(task)).statusCode, 200);
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
});
