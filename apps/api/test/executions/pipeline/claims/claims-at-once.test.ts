import { databaseErrorCode, executions } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { eq, inArray, sql } from 'drizzle-orm';
import t from 'tap';
import { selectCandidates } from '../../../../src/product/executions/pipeline/claims/claim.ts';
import { completeAndClaim } from '../../../../src/product/executions/pipeline/claims/complete-and-claim.ts';
import { lockCandidates } from '../../../../src/product/executions/pipeline/claims/lock-candidates.ts';
import { inTransaction } from '../../../../src/transaction.ts';
import { untilBlocked } from '../../../support/database.ts';
import { testEngine } from '../../../support/engine.ts';
import { insertQueuedRuns, insertTasks, insertUsers } from '../../../support/task-rows.ts';

const { ctx, alice, newProcess } = await testEngine(t);

const times = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at));

/** Queues executions of `count` new tasks. */
async function queueRuns(count: number, userId = alice().id) {
  const taskIds = await insertTasks(
    ctx,
    times(count, () => userId),
  );
  await insertQueuedRuns(ctx, taskIds);
  return { userId, taskIds };
}

const claim = (limit: number, userId: number) => completeAndClaim(ctx, [], { limit, after: userId - 1 });
const toTasks = (runs: readonly { taskId: number }[]) => runs.map(({ taskId }) => taskId);

/** Selects candidates as a claim that others overtake before it locks anything. */
const selectAhead = async (limit: number, userId: number) =>
  (await inTransaction(ctx, (tx) => selectCandidates(tx, { limit, after: userId - 1 }))).candidates;

const lockAgain = (candidates: Awaited<ReturnType<typeof selectAhead>>, userId: number) =>
  inTransaction(ctx, async (tx) => (await lockCandidates(tx, candidates, [userId], tx.now())).startable);

t.test('A claim does not wait for another one, and starts what that one leaves', async (t) => {
  const { userId, taskIds } = await queueRuns(4);
  await inTransaction(newProcess(t).ctx, async (tx) => {
    const { candidates } = await selectCandidates(tx, { limit: 2, after: userId - 1 });
    t.strictSame(toTasks(candidates), taskIds.slice(0, 2));
    const { started } = await claim(4, userId);
    t.strictSame(toTasks(started), taskIds.slice(2));
  });
});

t.test('A claim that others overtake leaves out a second execution of a task', async (t) => {
  const { userId, taskIds } = await queueRuns(3);
  const candidates = await selectAhead(3, userId);
  t.equal((await claim(1, userId)).started.length, 1);
  t.strictSame(toTasks(await lockAgain(candidates, userId)), taskIds.slice(1));
});

t.test('A claim that others overtake leaves out a sixth execution of a user', async (t) => {
  const { userId, taskIds } = await queueRuns(5);
  const candidates = await selectAhead(5, userId);
  const more = await insertTasks(ctx, [userId, userId]);
  await insertQueuedRuns(ctx, more);
  await ctx.db
    .update(executions)
    .set({ runAt: new Date(ctx.now().getTime() - 1000) })
    .where(inArray(executions.taskId, more));
  t.strictSame(toTasks((await claim(2, userId)).started), more);
  t.strictSame(toTasks(await lockAgain(candidates, userId)), taskIds.slice(0, 3));
});

t.test('A claim that others overtake leaves out executions whose slots they have taken, or are taking', async (t) => {
  const { userId, taskIds } = await queueRuns(3);
  const candidates = await selectAhead(3, userId);
  const [taken, beingTaken] = candidates.map(({ slot }) => slot) as [number, number];
  const other = await queueRuns(1, (await insertUsers(ctx, 1))[0]);
  await claim(1, other.userId);
  await ctx.db.update(executions).set({ slot: taken }).where(eq(executions.userId, other.userId));
  await newProcess(t).ctx.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.slots}, ${beingTaken})`);
    t.strictSame(toTasks(await lockAgain(candidates, userId)), taskIds.slice(2));
  });
});

t.test('The database refuses a second execution in a slot', async (t) => {
  const { userId } = await queueRuns(2);
  t.equal(new Set((await claim(2, userId)).started.map(({ id }) => id)).size, 2);
  const update = ctx.db.update(executions).set({ slot: 7 }).where(eq(executions.userId, userId));
  t.equal(databaseErrorCode(await update.catch((error: unknown) => error)), '23505');
});

t.test('Four claims are in progress at once: the fifth waits', async (t) => {
  const { userId } = await queueRuns(1);
  const gate = Promise.withResolvers<void>();
  const opened: Promise<void>[] = [];
  const claims = times(4, () => {
    const open = Promise.withResolvers<void>();
    opened.push(open.promise);
    return inTransaction(newProcess(t).ctx, async (tx) => {
      await selectCandidates(tx, { limit: 0, after: 0 });
      open.resolve();
      await gate.promise;
    });
  });
  await Promise.all(opened);
  const fifth = claim(1, userId);
  await untilBlocked(ctx.db);
  gate.resolve();
  await Promise.all(claims);
  t.equal((await fifth).started.length, 1);
});
