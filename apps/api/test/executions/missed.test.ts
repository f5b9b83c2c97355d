import { DAY_MS } from '@carillon/contract/primitives';
import { settings } from '@carillon/db';
import t from 'tap';
import { enqueueDue } from '../../src/executions/enqueue.ts';
import { changeTask } from '../../src/tasks/write.ts';
import { START } from '../support/context.ts';
import { testEngine } from '../support/engine.ts';
import { insertTask, insertTasks, insertUsers, readLedger, readRun, readTask } from '../support/schedules.ts';

const { ctx, clock, alice, newWorker } = await testEngine(t);

const daysFromStart = (days: number) => new Date(START.getTime() + days * DAY_MS);

t.test('one run makes up for all that were missed', async (t) => {
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
  t.strictSame((await readTask(ctx, task)).nextExecutionAt, daysFromStart(4));
});

t.test('more missed instants than one step settles are all recorded, with one run', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrencePattern: '* * * * *' });
  clock.advance(2500 * 60_000 + 30_000);
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  const ledger = await readLedger(ctx, task);
  t.equal(ledger.length, 2501);
  t.equal(ledger.filter(([, fate]) => fate === 'missed').length, 2500);
  const latest = new Date(START.getTime() + 2500 * 60_000);
  t.strictSame(ledger.at(-1), [latest.toISOString(), 'late']);
  t.strictSame((await readRun(ctx, task)).plannedFor, latest);
  t.strictSame((await readTask(ctx, task)).nextExecutionAt, new Date(latest.getTime() + 60_000));
});

t.test('exactly as many missed instants as one step settles still end in one run', async (t) => {
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

t.test('an instant that falls due while a run is pending is skipped, and so recorded', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  clock.advance(DAY_MS);
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readLedger(ctx, task), [
    [START.toISOString(), 'ran'],
    [daysFromStart(1).toISOString(), 'skipped_overlap'],
  ]);
  await readRun(ctx, task);
  t.strictSame((await readTask(ctx, task)).nextExecutionAt, daysFromStart(2));
});

t.test('what the user has paused is not made up', async (t) => {
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: daysFromStart(1) });
  await changeTask(ctx, alice(), task, { status: 'paused' });
  clock.set(daysFromStart(3.5));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  await changeTask(ctx, alice(), task, { status: 'active' });
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readLedger(ctx, task), []);
  t.strictSame((await readTask(ctx, task)).nextExecutionAt, daysFromStart(4));
});

t.test('in maintenance mode nothing starts, and afterwards one run makes up for it', async (t) => {
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

t.test('what is queued when maintenance begins waits for its end', async (t) => {
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

t.test('a long outage of many tasks is settled in many short transactions', async (t) => {
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

t.test('a once task has nothing ahead after its run, which comes late rather than never', async (t) => {
  const task = await insertTask(ctx, alice().id, { recurrence: 'once' });
  clock.set(daysFromStart(9));
  await enqueueDue(ctx);
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'late']]);
  t.equal((await readTask(ctx, task)).nextExecutionAt, null);
});
