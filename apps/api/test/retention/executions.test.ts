import { DAY_MS } from '@carillon/contract/primitives';
import { executions, runQuestions, runTexts, usageCounters, usageRecords, users } from '@carillon/db';
import { detachPartition, listPartitions, renameTable } from '@carillon/db/partitions';
import { asc, eq, sql } from 'drizzle-orm';
import t from 'tap';
import { openSession } from '../../src/product/auth/sessions.ts';
import { indexRunsOfUser } from '../../src/product/executions/search.ts';
import { preparePartitions } from '../../src/product/retention/partitions/change-partitions.ts';
import { dropExpiredExecutions } from '../../src/product/retention/partitions/drop-executions.ts';
import { HISTORY } from '../../src/product/retention/partitions/execution-partitions.ts';
import { createPruner, pruneAll } from '../../src/product/retention/prune.ts';
import { deleteTask } from '../../src/product/tasks/delete.ts';
import { findWrongCounters } from '../../src/product/usage/verify.ts';
import { START, testContext } from '../support/context.ts';
import { recordDeadlocks } from '../support/database.ts';
import { findCallerByToken, type Person, signUp } from '../support/people.ts';
import { countEndedRuns, insertTask, insertTasks } from '../support/task-rows.ts';
import { BUSY_OUTCOME, createFixedAi, runDue } from '../support/tasks.ts';

const { app, ctx, clock } = await testContext(t, { env: { EXECUTION_RETRY_DELAYS_MS: '60000' } });
const deadlocks = recordDeadlocks(ctx);
const ago = (days: number, ms = 0) => new Date(START.getTime() - days * DAY_MS - ms);
let alice: Person;
/** Begins the partition of a month, as the first minute of the month does. */
async function enterMonth(days: number) {
  clock.set(ago(days));
  await preparePartitions(ctx);
}
const listNames = async () => (await listPartitions(ctx.db, HISTORY)).map(({ name }) => name);
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
const made = { status: 'completed', trigger: 'manual', runAt: START, archived: true } as const;
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

t.test(
  'The executions of a month are dropped together, once all of them ended a year ago, to the millisecond',
  async (t) => {
    const task = await insertTask(ctx, alice.id);
    await enterMonth(430);
    await insertRuns(task, ago(430), times(1200));
    await enterMonth(400);
    const kept = [...(await insertRuns(task, ago(400), times(2))), ...(await insertRuns(task, ago(365), times(1)))];
    await enterMonth(0);
    const recent = await insertRuns(task, START, times(1));
    for (let batch = 0; batch < 3; batch += 1) await indexRunsOfUser(ctx, alice.id);
    t.equal(await ctx.db.$count(runTexts), 1204);
    const asked = { taskId: task, userId: alice.id, message: 'Why?', content: 'So.', model: 'm', createdAt: START };
    const ids = await left();
    await ctx.db.insert(runQuestions).values(ids.map((executionId) => ({ ...asked, executionId })));
    await pruneAll(ctx);
    t.equal(await ctx.db.$count(runQuestions), 4, 'what was asked about them is gone too');
    t.same(await left(), [...kept, ...recent]);
    const found = await ctx.db.select({ id: runTexts.executionId }).from(runTexts).orderBy(asc(runTexts.executionId));
    t.same(
      found.map(({ id }) => id),
      [...kept, ...recent],
      'and their words',
    );
    t.match(await counts(), { totalExecutions: 4, successRate: 100 });
    clock.advance(1);
    await pruneAll(ctx);
    t.same(await left(), recent);
    t.match(await counts(), { totalExecutions: 1, successRate: 100 });
  },
);

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
  await preparePartitions(ctx);
  await pruneAll(ctx);
  t.equal(await ctx.db.$count(executions), 0);
  t.same(await used(), before);
  t.match(await counts(), { totalExecutions: 0, successRate: 0 });
});

t.test('Live executions keep the partition of their ids, also one that was planned to run later', async (t) => {
  const [one, two] = await insertTasks(ctx, [alice.id, alice.id]);
  await enterMonth(430);
  const claim = { claimToken: crypto.randomUUID(), leaseUntil: START, startedAt: ago(400) };
  const live = { completedAt: null, usageDay: null, archived: false };
  const ids = await insertRuns(one as number, ago(430), [
    { status: 'running', ...claim, ...live },
    { status: 'failed', errorCode: 'TIMEOUT' },
    { status: 'pending', trigger: 'retry', ...live },
  ]);
  const [running, failed, pending] = ids as [number, number, number];
  await ctx.db.update(executions).set({ retryOfId: failed }).where(eq(executions.id, pending));
  await enterMonth(0);
  await insertRuns(two as number, START, times(1));
  for (const id of [pending, running]) {
    await pruneAll(ctx);
    t.ok((await left()).includes(failed));
    await ctx.db.delete(executions).where(eq(executions.id, id));
  }
  await pruneAll(ctx);
  t.equal((await left()).length, 1);
});

t.test('A retry whose original was deleted is answered, and can be retried', async (t) => {
  const task = await insertTask(ctx, alice.id);
  const failed = { status: 'failed', errorCode: 'TIMEOUT' } as const;
  await enterMonth(430);
  const [first] = await insertRuns(task, ago(430), [failed]);
  await enterMonth(0);
  const [retry] = await insertRuns(task, START, [{ ...failed, trigger: 'retry', retryOfId: first as number }]);
  await pruneAll(ctx);
  t.same(await left(), [retry]);
  const answer = await app.inject({ url: `/api/executions/${retry}`, headers: alice.headers });
  t.match(answer.json(), { execution: { retryOfId: first } });
  const again = await app.inject({ method: 'POST', url: `/api/executions/${retry}/retry`, headers: alice.headers });
  t.equal(again.statusCode, 201);
});

t.test('A planned instant is not executed again after its execution was pruned', async (t) => {
  const busy = { ...ctx, ai: createFixedAi(BUSY_OUTCOME) };
  const task = await insertTask(ctx, alice.id, { recurrence: 'once' });
  await runDue(busy);
  clock.advance(60_000);
  await runDue(busy);
  clock.advance(366 * DAY_MS);
  await preparePartitions(ctx);
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
  await enterMonth(430);
  for (const [at, task] of tasks.entries()) {
    const { id } = people[at % 3] as Person;
    const ids = await insertRuns(task, ago(430 + at), times(300), id);
    const failed = { status: 'failed', errorCode: 'TIMEOUT' } as const;
    await insertRuns(task, ago(430), times(20, { ...failed, retryOfId: ids[at] as number }), id);
  }
  await enterMonth(0);
  const [recent] = await insertRuns(tasks[7] as number, START, times(1), (people[1] as Person).id);
  const deletions = tasks.slice(0, 6).map(async (task, at) => {
    const caller = await findCallerByToken(ctx, (people[at % 3] as Person).token);
    if (caller) await deleteTask(ctx, caller, task);
  });
  await Promise.all([pruneAll(ctx), createPruner(ctx)(), ...deletions, pruneAll(ctx)]);
  await pruneAll(ctx);
  t.same(await left(), [recent]);
});

t.test('A partition that a reader uses is dropped later, and requests do not wait for it', async (t) => {
  const task = await insertTask(ctx, alice.id);
  await enterMonth(430);
  await insertRuns(task, ago(430), times(3));
  await enterMonth(0);
  const recent = await insertRuns(task, START, times(1));
  await ctx.db.transaction(async (tx) => {
    await tx.execute(sql`select count(*) from executions`);
    await pruneAll(ctx);
    t.equal((await left()).length, 4);
  });
  await pruneAll(ctx);
  t.same(await left(), recent);
});

t.test('A detached partition, whose process died then, is counted and dropped by the next one', async (t) => {
  const task = await insertTask(ctx, alice.id);
  await enterMonth(430);
  await insertRuns(task, ago(430), times(3));
  await enterMonth(0);
  const [first] = await listNames();
  await ctx.db.transaction(async (tx) => {
    await detachPartition(tx, HISTORY, first as string);
    await renameTable(tx, first as string, 'executions_expired_from_1');
  });
  t.match(await counts(), { totalExecutions: 3 });
  const batch = await dropExpiredExecutions(ago(365))(ctx, null);
  t.match(batch, { deleted: 3 });
  t.match(await counts(), { totalExecutions: 0 });
});
