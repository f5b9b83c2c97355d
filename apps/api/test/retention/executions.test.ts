import { DAY_MS } from '@carillon/contract/primitives';
import { executions, usageCounters, usageRecords, users } from '@carillon/db';
import { asc, eq } from 'drizzle-orm';
import t from 'tap';
import { openSession } from '../../src/auth/sessions.ts';
import { createPruner, pruneAll } from '../../src/retention/prune.ts';
import { deleteTask } from '../../src/tasks/delete.ts';
import { findWrongCounters } from '../../src/usage/verify.ts';
import { START, testContext } from '../support/context.ts';
import { recordDeadlocks } from '../support/database.ts';
import { findCallerByToken, type Person, signUp } from '../support/people.ts';
import { countEndedRuns, insertTask, insertTasks } from '../support/task-rows.ts';
import { BUSY_OUTCOME, createFixedAi, runDue } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t, { env: { EXECUTION_RETRY_DELAYS_MS: '60000' } });
const deadlocks = recordDeadlocks(ctx);
const ago = (days: number, ms = 0) => new Date(START.getTime() - days * DAY_MS - ms);
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  alice = await signUp(app);
});
t.afterEach(async () => {
  const faults = [...(await findWrongCounters(ctx.db)), ...(await findMiscounts()), ...deadlocks];
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
});

/** Counters that differ from the executions in the table. */
async function findMiscounts() {
  const counted = () => ctx.db.select().from(usageCounters).orderBy(usageCounters.userId, usageCounters.period);
  const before = await counted();
  await ctx.db.update(usageCounters).set({ completed: 0, failed: 0 });
  await countEndedRuns(ctx);
  const after = await counted();
  return before.filter((row, at) => JSON.stringify(row) !== JSON.stringify(after[at]));
}

type Run = Partial<typeof executions.$inferInsert>;
const made = { status: 'completed', trigger: 'manual', runAt: START } as const;
/** Inserts executions that were created and ended at `at`. */
async function insertRuns(taskId: number, at: Date, runs: readonly Run[], userId = alice.id) {
  const ended = { completedAt: at, createdAt: at, usageDay: at.toISOString().slice(0, 10) };
  const values = runs.map((run) => ({ ...made, ...ended, ...run, taskId, userId }));
  const inserted = await ctx.db.insert(executions).values(values).returning({ id: executions.id });
  await countEndedRuns(ctx);
  return inserted.map(({ id }) => id);
}
const times = (count: number, run: Run = {}) => Array.from({ length: count }, () => run);
const left = async () =>
  (await ctx.db.select({ id: executions.id }).from(executions).orderBy(asc(executions.id))).map(({ id }) => id);
/** The stats of the account, as its owner reads them. */
async function counts() {
  const { token } = await openSession({ ...ctx, origin: { address: '127.0.0.1', userAgent: undefined } }, alice.id);
  const headers = { authorization: `Bearer ${token}` };
  return (await app.inject({ url: '/api/user', headers })).json().user.stats;
}

t.test('Executions are stored for a year after their end, to the millisecond', async (t) => {
  const task = await insertTask(ctx, alice.id);
  await insertRuns(task, ago(365, 1), times(1200));
  const kept = await insertRuns(task, ago(365), times(2));
  await pruneAll(ctx);
  t.same(await left(), kept);
  t.match(await counts(), { totalExecutions: 2, successRate: 100 });
});

t.test('Usage records and counters outlive the pruned executions', async (t) => {
  await insertTask(ctx, alice.id, { aiModel: 'offline' });
  await runDue(ctx);
  t.equal(await ctx.db.$count(executions), 1);
  const used = async () => {
    const records = await ctx.db.select().from(usageRecords);
    const counters = await ctx.db.select().from(usageCounters).orderBy(usageCounters.period);
    const sums = counters.map(({ period, executions, tokens }) => ({ period, executions, tokens }));
    return [records.map(({ executionId, ...record }) => record), sums];
  };
  const before = await used();
  clock.advance(366 * DAY_MS);
  await pruneAll(ctx);
  t.equal(await ctx.db.$count(executions), 0);
  t.same(await used(), before);
  t.match(await counts(), { totalExecutions: 0, successRate: 0 });
});

t.test('A pending or running execution is never pruned, nor is the failed one that it retries', async (t) => {
  const [one, two] = await insertTasks(ctx, [alice.id, alice.id]);
  const claim = { claimToken: crypto.randomUUID(), leaseUntil: START, startedAt: ago(400), completedAt: null };
  const failed = { status: 'failed', errorCode: 'TIMEOUT' } as const;
  const ids = await insertRuns(one as number, ago(400), [
    { status: 'running', ...claim, usageDay: null },
    { ...failed },
    { status: 'pending', trigger: 'retry', completedAt: null, usageDay: null },
  ]);
  await ctx.db
    .update(executions)
    .set({ retryOfId: ids[1] as number })
    .where(eq(executions.id, ids[2] as number));
  await insertRuns(two as number, ago(400), times(3, failed));
  await pruneAll(ctx);
  t.same(await left(), ids);
});

t.test('An execution is pruned before the one that retried it', async (t) => {
  const task = await insertTask(ctx, alice.id);
  const failed = { status: 'failed', errorCode: 'TIMEOUT' } as const;
  const [first] = await insertRuns(task, ago(366), [failed]);
  const [retry] = await insertRuns(task, ago(364), [{ trigger: 'retry', retryOfId: first as number }]);
  await pruneAll(ctx);
  const [run] = await ctx.db.select().from(executions);
  t.match(run, { id: retry, retryOfId: null });
  const answer = await app.inject({ url: `/api/executions/${retry}`, headers: alice.headers });
  t.equal(answer.statusCode, 200);
});

t.test('A planned instant is not executed again after its execution was pruned', async (t) => {
  const busy = { ...ctx, ai: createFixedAi(BUSY_OUTCOME) };
  const task = await insertTask(ctx, alice.id, { recurrence: 'once' });
  await runDue(busy);
  clock.advance(60_000);
  await runDue(busy);
  clock.advance(366 * DAY_MS);
  await pruneAll(ctx);
  await runDue(ctx);
  t.equal(await ctx.db.$count(executions, eq(executions.taskId, task)), 0);
});

t.test('Simultaneous pruners and task deletions subtract each execution from the counters once', async (t) => {
  const people = [alice, await signUp(app), await signUp(app)];
  const tasks = await insertTasks(
    ctx,
    Array.from({ length: 12 }, (_, at) => (people[at % 3] as Person).id),
  );
  for (const [at, task] of tasks.entries()) {
    const { id } = people[at % 3] as Person;
    const ids = await insertRuns(task, ago(400 + at), times(300), id);
    const failed = { status: 'failed', errorCode: 'TIMEOUT' } as const;
    await insertRuns(task, ago(390), times(20, { ...failed, retryOfId: ids[at] as number }), id);
  }
  const deletions = tasks.slice(0, 6).map(async (task, at) => {
    const caller = await findCallerByToken(ctx, (people[at % 3] as Person).token);
    if (caller) await deleteTask(ctx, caller, task);
  });
  await Promise.all([pruneAll(ctx), createPruner(ctx)(), ...deletions, pruneAll(ctx)]);
  await pruneAll(ctx);
  t.same(await left(), []);
});

t.test('Simultaneous pruners do not deadlock over executions that retry each other', async (t) => {
  const task = await insertTask(ctx, alice.id);
  const ids = await insertRuns(task, ago(400), times(1500, { status: 'failed', errorCode: 'TIMEOUT' }));
  await ctx.db.execute(`update executions set retry_of_id = id - 1 where id > ${ids[0]}`);
  await Promise.all([pruneAll(ctx), pruneAll(ctx), pruneAll(ctx), pruneAll(ctx)]);
  t.same(await left(), []);
});

t.test('Executions of a task that is being deleted are skipped without waiting', async (t) => {
  const [one, two] = await insertTasks(ctx, [alice.id, alice.id]);
  const ids = await insertRuns(one as number, ago(400), times(3));
  await insertRuns(two as number, ago(400), times(3));
  await ctx.db.transaction(async (tx) => {
    await tx.execute(`select from tasks where id = ${one} for update`);
    await pruneAll(ctx);
    t.same(await left(), ids);
  });
  await pruneAll(ctx);
  t.same(await left(), []);
});
