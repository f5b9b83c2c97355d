import { databaseErrorCode, executions, usageCounters } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { eq, inArray, sql } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { selectCandidates, takeSlots } from '../../../src/product/executions/pipeline/select-candidates.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { untilBlocked } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { insertQueuedRuns, insertTasks, insertUsers } from '../../support/task-rows.ts';

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

const claim = (limit: number, userId: number) => pipeline.claim(ctx, { limit, after: userId - 1 });
const toTasks = (runs: readonly { taskId: number }[]) => runs.map(({ taskId }) => taskId);

async function clear() {
  await ctx.db.delete(executions);
  await ctx.db.delete(usageCounters);
}

/** Begins a claim in another process, and returns when it has selected; `end` lets it go on. */
async function beginClaim(t: Test, limit: number, after: number) {
  const selected = Promise.withResolvers<number[]>();
  const gate = Promise.withResolvers<void>();
  const work = inTransaction(newProcess(t).ctx, async (tx) => {
    const [{ slots }, { candidates }] = await Promise.all([takeSlots(tx, limit), selectCandidates(tx, limit, after)]);
    t.equal(slots.length, limit);
    selected.resolve(toTasks(candidates));
    await gate.promise;
  });
  work.catch(selected.reject);
  const end = async () => {
    gate.resolve();
    await work;
  };
  return { taskIds: await selected.promise, end };
}

t.test(
  'A claim does not wait for another one: it starts runs of other users, and says that it left some',
  async (t) => {
    const people = await insertUsers(ctx, 25);
    await insertQueuedRuns(ctx, await insertTasks(ctx, people));
    const toUsers = (runs: readonly { userId: number }[]) => runs.map(({ userId }) => userId);
    const first = await beginClaim(t, 2, 0);
    t.equal(first.taskIds.length, 2, 'it starts two, and considers 20 users');
    const second = await claim(50, 0);
    t.strictSame([toUsers(second.started), second.isContended], [people.slice(20), true]);
    await first.end();
    const third = await claim(50, 0);
    t.strictSame([toUsers(third.started), third.isContended], [people.slice(0, 20), false]);
    await clear();
  },
);

t.test('A snapshot that is older than the end of another claim starts no sixth run of a user', async (t) => {
  const { userId, taskIds } = await queueRuns(8);
  t.strictSame(toTasks((await claim(3, userId)).started), taskIds.slice(0, 3));
  const claims = await Promise.all(times(6, () => pipeline.claim(newProcess(t).ctx, { limit: 8, after: userId - 1 })));
  t.strictSame(
    claims.flatMap(({ started }) => toTasks(started)),
    taskIds.slice(3, 5),
  );
  await clear();
});

t.test('Claims at once take different slots, and none starts without one', async (t) => {
  const busy = await insertTasks(
    ctx,
    times(995, () => alice().id),
  );
  await ctx.db.execute(sql`
    insert into executions (task_id, user_id, status, trigger, run_at, queued_at, started_at, usage_day, created_at, claim_token, lease_until, slot)
    select id, user_id, 'running', 'manual', now(), now(), now(), null, now(), gen_random_uuid(), now() + interval '1 minute', n
    from tasks join unnest(${`{${busy.join(',')}}`}::int[]) with ordinality r(id, n) using (id)`);
  const [bob, carol] = (await insertUsers(ctx, 2)) as [number, number];
  const one = await queueRuns(5, bob);
  const other = await queueRuns(1, carol);
  const first = await beginClaim(t, 5, bob - 1);
  t.strictSame(first.taskIds, one.taskIds);
  t.match(await claim(1, carol), { started: [], isContended: true, isFull: false });
  await first.end();
  t.equal((await claim(5, bob)).started.length, 5);
  t.match(await claim(1, carol), { started: [], lost: 1, isContended: false, isFull: true });
  await ctx.db.delete(executions).where(inArray(executions.taskId, busy.slice(0, 1)));
  t.strictSame(toTasks((await claim(1, carol)).started), other.taskIds);
  await clear();
});

t.test(
  'A claim for more than 200 executions starts 200, leaves no user out and does not call the slots taken',
  async (t) => {
    const people = await insertUsers(ctx, 50);
    await insertQueuedRuns(
      ctx,
      await insertTasks(
        ctx,
        times(250, (at) => people[at % 50] as number),
      ),
    );
    const first = await claim(1000, 0);
    t.match({ ...first, started: first.started.length }, { started: 200, isFull: false, isContended: false });
    const second = await claim(1000, first.next + 1);
    t.match({ ...second, started: second.started.length }, { started: 50, next: 0, isFull: false });
    await clear();
  },
);

t.test('The database refuses a second execution in a slot', async (t) => {
  const { userId } = await queueRuns(2);
  t.equal(new Set((await claim(2, userId)).started.map(({ id }) => id)).size, 2);
  const update = ctx.db.update(executions).set({ slot: 7 }).where(eq(executions.userId, userId));
  t.equal(databaseErrorCode(await update.catch((error: unknown) => error)), '23505');
});

t.test(
  'A claim waits for claims of the version before, which count under a turn, but not for newer ones',
  async (t) => {
    const { userId } = await queueRuns(1);
    const older = Promise.withResolvers<void>();
    const newer = await beginClaim(t, 1, userId);
    const turn = newProcess(t).ctx.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.claimTurns}, 3)`);
      await older.promise;
    });
    await untilBlocked(ctx.db);
    await newer.end();
    const claiming = claim(1, userId);
    await untilBlocked(ctx.db);
    older.resolve();
    await turn;
    t.equal((await claiming).started.length, 1);
  },
);
