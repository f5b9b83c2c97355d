import { DAY_MS } from '@carillon/contract/primitives';
import { executions, occurrences, usageCounters, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { START } from '../../support/context.ts';
import { testEngine } from '../../support/engine.ts';
import {
  insertTask,
  insertTasks,
  insertUsage,
  insertUsers,
  readLedger,
  readRun,
  readRuns,
  readTaskRow,
} from '../../support/task-rows.ts';

const { ctx, clock, alice, newWorker, logged } = await testEngine(t);

const daysFromStart = (days: number) => new Date(START.getTime() + days * DAY_MS);

/** A due retry of a task that is not due itself. */
async function insertRetry(): Promise<number> {
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: null });
  const run = { taskId: task, userId: alice().id, status: 'pending', trigger: 'retry', attempt: 2 } as const;
  const [made] = await ctx.db
    .insert(executions)
    .values({ ...run, runAt: START, createdAt: START })
    .returning({ id: executions.id });
  return made?.id as number;
}

t.test('A due task gets one ledger row, one pending execution and its next instant', async (t) => {
  const task = await insertTask(ctx, alice().id);
  const { queued, refused } = await enqueueDue(ctx);
  const run = await readRun(ctx, task);
  t.strictSame({ queued, refused }, { queued: [run.id], refused: [] });
  t.match(run, { status: 'pending', trigger: 'schedule', plannedFor: START, attempt: 1, usageDay: '2026-11-20' });
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'ran']]);
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, daysFromStart(1));
});

t.test('Queueing starts nothing: the execution count and the last execution change at the start', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  t.match(await readTaskRow(ctx, task), { executionCount: 0, lastExecutionAt: null });
});

t.test('A task that is not due yet does not change', async (t) => {
  const next = new Date(START.getTime() + 1);
  const task = await insertTask(ctx, alice().id, { nextExecutionAt: next });
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame((await readTaskRow(ctx, task)).nextExecutionAt, next);
  clock.advance(1);
  t.equal((await enqueueDue(ctx)).queued.length, 1);
});

t.test('A second enqueue finds nothing to do', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  await readRun(ctx, task);
});

t.test('An execution more than 5 s behind its planned instant is late, one of exactly 5 s is not', async (t) => {
  const task = await insertTask(ctx, alice().id);
  clock.advance(5000);
  await enqueueDue(ctx);
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'ran']]);
  const other = await insertTask(ctx, alice().id, { scheduledFor: START, nextExecutionAt: START });
  clock.advance(1);
  await enqueueDue(ctx);
  t.strictSame(await readLedger(ctx, other), [[START.toISOString(), 'late']]);
});

t.test('An execution that had to wait for a slot is late too', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await enqueueDue(ctx);
  clock.advance(5001);
  await newWorker(t).drain();
  t.strictSame(await readLedger(ctx, task), [[START.toISOString(), 'late']]);
});

t.test('The tasks of a deactivated account are suspended', async (t) => {
  const task = await insertTask(ctx, alice().id);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice().id));
  t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
  t.strictSame(await readRuns(ctx, task), []);
  t.strictSame(await readLedger(ctx, task), []);
});

t.test(
  'A task whose schedule cannot be computed neither blocks other tasks nor is retried in every tick',
  async (t) => {
    const broken = await insertTask(ctx, alice().id, { timezone: 'Nowhere/Land', nextExecutionAt: new Date(0) });
    const good = await insertTask(ctx, alice().id);
    t.equal((await enqueueDue(ctx)).queued.length, 2);
    t.strictSame(await enqueueDue(ctx), { queued: [], refused: [] });
    await readRun(ctx, good);
    t.strictSame((await readTaskRow(ctx, broken)).nextExecutionAt, daysFromStart(1));
    t.match(logged, [{ level: 50, taskId: broken, msg: 'next run of a task cannot be computed' }]);
  },
);

t.test('An instant in the ledger gets no second execution and costs no quota', async (t) => {
  const [known, fresh] = await insertTasks(ctx, [alice().id, alice().id]);
  await ctx.db.insert(occurrences).values({ taskId: known!, plannedFor: START, fate: 'missed', recordedAt: START });
  t.equal((await enqueueDue(ctx)).queued.length, 1);
  t.strictSame(await readRuns(ctx, known!), []);
  t.strictSame((await readTaskRow(ctx, known!)).nextExecutionAt, daysFromStart(1));
  await readRun(ctx, fresh!);
  t.strictSame(
    (await ctx.db.select().from(usageCounters)).map(({ executions }) => executions),
    [1, 1],
  );
});

t.test('An overdue task is distinguished from one that is merely due', async (t) => {
  await insertTask(ctx, alice().id);
  clock.advance(59_999);
  t.strictSame(await enqueueDue(ctx, { overdueMs: 60_000 }), { queued: [], refused: [] });
  clock.advance(1);
  t.equal((await enqueueDue(ctx, { overdueMs: 60_000 })).queued.length, 1);
});

t.test('A batch takes the tasks of many users who have no usage counters yet', async (t) => {
  const people = await insertUsers(ctx, 450);
  await insertTasks(ctx, people);
  t.equal((await enqueueDue(ctx)).queued.length, 450);
});

t.test('Tasks and retries of less than a batch are queued in one transaction', async (t) => {
  let transactions = 0;
  const transaction: typeof ctx.db.transaction = (...given) => {
    transactions += 1;
    return ctx.db.transaction(...given);
  };
  const db = new Proxy(ctx.db, {
    get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
  });
  const enqueue = async () => {
    transactions = 0;
    const { queued } = await enqueueDue({ ...ctx, db });
    return { queued: queued.length, transactions };
  };
  t.strictSame(await enqueue(), { queued: 0, transactions: 1 });
  await insertRetry();
  await insertTask(ctx, alice().id);
  t.strictSame(await enqueue(), { queued: 2, transactions: 1 });
  await insertTasks(ctx, await insertUsers(ctx, 450));
  t.strictSame(await enqueue(), { queued: 450, transactions: 3 });
});

t.test('Tasks and retries that are due together share what a quota leaves', async (t) => {
  await insertUsage(ctx, alice().id, { executions: 48 });
  const retry = await insertRetry();
  await insertTasks(ctx, [alice().id, alice().id]);
  const { queued, refused } = await enqueueDue(ctx);
  t.equal(queued.length, 2);
  t.strictSame(refused, [retry]);
});
