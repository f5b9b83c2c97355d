import { occurrences, settings, usageCounters, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../src/executions/queue.ts';
import { changeTask } from '../../src/tasks/write.ts';
import { START } from '../support/context.ts';
import { testEngine } from '../support/engine.ts';
import { insertTask, insertTasks, insertUsers, readLedger, readRun, readRuns, readTask } from '../support/schedules.ts';

const { ctx, clock, alice, newWorker, logged } = await testEngine(t);

const DAY_MS = 24 * 60 * 60 * 1000;
const daysFromStart = (days: number) => new Date(START.getTime() + days * DAY_MS);

t.test('a due task has one ledger row, one pending execution and its next instant', async (t) => {
  const task = await insertTask(ctx, alice().id);
  const { queued, refused } = await enqueueDue(ctx);
  const run = await readRun(ctx, task);
  t.strictSame({ queued, refused }, { queued: [run.id], refused: [] });
  t.match(run, { status: 'pending', trigger: 'schedule', plannedFor: START, attempt: 1, usageDay: '2026-11-20' });
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'ran']]);
  t.strictSame((await readTask(ctx, task)).nextExecutionAt, daysFromStart(1));
});

t.test('dispatch is no run: neither the count nor the last execution changes before one starts', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  t.match(await readTask(ctx, task), { executionCount: 0, lastExecutionAt: null });
});

t.test('what is not due yet stays where it is', async (t) => {
  const next = new Date(START.getTime() + 1);
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: next });
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame((await readTask(ctx, task)).nextExecutionAt, next);
  clock.advance(1);
  t.equal((await enqueueDue(ctx)).queued.length, 1);
});

t.test('a second look finds nothing more to do', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  await readRun(ctx, task);
});

t.test('a run more than 5 s behind its instant is late, one of exactly 5 s is not', async (t) => {
  const task = await insertTask(ctx, alice().id);
  clock.advance(5000);
  await enqueueDue(ctx);
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'ran']]);
  const other = await insertTask(ctx, alice().id, { scheduledFor: START, nextExecutionAt: START });
  clock.advance(1);
  await enqueueDue(ctx);
  t.strictSame(await readLedger(ctx, other), [[START.toISOString(), 'late']]);
});

t.test('a run that had to wait for its place is late too', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  clock.advance(5001);
  await newWorker(t).drain();
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'late']]);
});

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

t.test('the tasks of a deactivated account rest', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice().id));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readRuns(ctx, task), []);
  t.strictSame(await readLedger(ctx, task), []);
});

t.test(
  'a task whose schedule cannot be computed neither blocks the others nor is looked at in every tick',
  async (t) => {
    const broken = await insertTask(ctx, alice().id, { timezone: 'Nowhere/Land', nextExecutionAt: new Date(0) });
    const good = await insertTask(ctx, alice().id);
    t.equal((await enqueueDue(ctx)).queued.length, 2);
    t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
    await readRun(ctx, good);
    t.strictSame((await readTask(ctx, broken)).nextExecutionAt, daysFromStart(1));
    t.match(logged, [{ level: 50, taskId: broken, msg: 'next run of a task cannot be computed' }]);
  },
);

t.test('an instant that the ledger knows makes no second run and costs no quota', async (t) => {
  const [known, fresh] = await insertTasks(ctx, [alice().id, alice().id]);
  await ctx.db.insert(occurrences).values({ taskId: known!, plannedFor: START, fate: 'missed', recordedAt: START });
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  t.strictSame(await readRuns(ctx, known!), []);
  t.strictSame((await readTask(ctx, known!)).nextExecutionAt, daysFromStart(1));
  await readRun(ctx, fresh!);
  t.strictSame(
    (await ctx.db.select().from(usageCounters)).map(({ executions }) => executions),
    [1, 1],
  );
});

t.test('what the scheduler is late for can be told from what is merely due', async (t) => {
  await insertTask(ctx, alice().id);
  clock.advance(59_999);
  t.strictSame(await enqueueDue(ctx, { overdueMs: 60_000 }), { queued: [], refused: [] });
  clock.advance(1);
  t.equal((await enqueueDue(ctx, { overdueMs: 60_000 })).queued.length, 1);
});

t.test('a batch holds the tasks of many people who have never used anything', async (t) => {
  const people = await insertUsers(ctx, 450);
  await insertTasks(ctx, people);
  t.equal((await enqueueDue(ctx)).queued.length, 450);
});
