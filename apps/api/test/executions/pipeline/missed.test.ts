import { DAY_MS } from '@carillon/contract/primitives';
import { settings } from '@carillon/db';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { changeTask } from '../../../src/product/tasks/write.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import { insertTask, insertTasks, insertUsers, readLedger, readRun, readTaskRow } from '../../support/task-rows.ts';

const { ctx, clock, alice, newWorker } = await testEngine(t);

const daysFromStart = (days: number) => new Date(START.getTime() + days * DAY_MS);

t.test('One execution makes up for all missed instants', async (t) => {
  const task = await insertTask(ctx, alice().id);
  clock.set(new Date(daysFromStart(3).getTime() + 1000));
  await enqueueDue(ctx);
  t.strictSame(await readLedger(ctx, task), [
    [daysFromStart(0).toISOString(), 'missed'],
    [daysFromStart(1).toISOString(), 'missed'],
    [daysFromStart(2).toISOString(), 'missed'],
    [daysFromStart(3).toISOString(), 'ran'],
  ]);
  t.strictSame((await readRun(ctx, task)).plannedFor, daysFromStart(3));
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, daysFromStart(4));
});

t.test('More missed instants than one batch holds are all recorded, with one execution', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrencePattern: '* * * * *' });
  clock.advance(2500 * 60_000 + 30_000);
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  const ledger = await readLedger(ctx, task);
  t.equal(ledger.length, 2501);
  t.equal(ledger.filter(([, fate]) => fate === 'missed').length, 2500);
  const latest = new Date(START.getTime() + 2500 * 60_000);
  t.strictSame(ledger.at(-1), [latest.toISOString(), 'late']);
  t.strictSame((await readRun(ctx, task)).plannedFor, latest);
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, new Date(latest.getTime() + 60_000));
});

t.test('Exactly as many missed instants as one batch holds still lead to one execution', async (t) => {
  for (const count of [999, 1000, 1001]) {
    const task = await insertTask(ctx, alice().id, { recurrencePattern: '* * * * *' });
    clock.advance((count - 1) * 60_000);
    await enqueueDue(ctx);
    const ledger = await readLedger(ctx, task);
    t.equal(ledger.length, count);
    t.strictSame((await readRun(ctx, task)).plannedFor, ctx.now());
    await newWorker(t).drain();
    await changeTask(ctx, alice(), task, { status: 'paused' });
  }
});

t.test('An instant that is due while an execution is pending is recorded as skipped', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  clock.advance(DAY_MS);
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readLedger(ctx, task), [
    [START.toISOString(), 'ran'],
    [daysFromStart(1).toISOString(), 'skipped_overlap'],
  ]);
  await readRun(ctx, task);
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, daysFromStart(2));
});

t.test('A paused task makes up for nothing', async (t) => {
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: daysFromStart(1) });
  await changeTask(ctx, alice(), task, { status: 'paused' });
  clock.set(daysFromStart(3.5));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  await changeTask(ctx, alice(), task, { status: 'active' });
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readLedger(ctx, task), []);
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, daysFromStart(4));
});

t.test('Maintenance mode starts nothing, and one execution makes up for it afterwards', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrencePattern: '0 * * * *' });
  await ctx.db.update(settings).set({ maintenanceMode: true });
  clock.advance(3 * 60 * 60 * 1000);
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readLedger(ctx, task), []);
  await ctx.db.update(settings).set({ maintenanceMode: false });
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  const fates = (await readLedger(ctx, task)).map(([, fate]) => fate);
  t.strictSame(fates, ['missed', 'missed', 'missed', 'ran']);
});

t.test('Queued executions wait for the end of maintenance mode', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  await ctx.db.update(settings).set({ maintenanceMode: true });
  const worker = newWorker(t);
  await worker.drain();
  t.equal((await readRun(ctx, task)).status, 'pending');
  await ctx.db.update(settings).set({ maintenanceMode: false });
  await worker.drain();
  t.equal((await readRun(ctx, task)).status, 'completed');
});

t.test('A long outage of many tasks is recorded in many short transactions', async (t) => {
  const made = await insertTasks(ctx, await insertUsers(ctx, 12), { recurrencePattern: '* * * * *' });
  clock.advance(700 * 60_000);
  let transactions = 0;
  const db = new Proxy(ctx.db, {
    get(target, name, self) {
      if (name === 'transaction') transactions += 1;
      return Reflect.get(target, name, self);
    },
  });
  t.equal((await enqueueDue({ ...ctx, db })).queued.length, 12);
  t.ok(transactions > 8, `${transactions} transactions`);
  for (const task of made) {
    t.equal((await readLedger(ctx, task)).length, 701);
    t.strictSame((await readRun(ctx, task)).plannedFor, ctx.now());
  }
});

t.test('A once task runs late rather than never, and has no next run after it', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  clock.set(daysFromStart(9));
  await enqueueDue(ctx);
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'late']]);
  t.equal((await readTaskRow(ctx, task)).nextExecutionAt, null);
});
