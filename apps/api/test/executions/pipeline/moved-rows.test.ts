import { executions, queryRows } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { cancelExecutions } from '../../../src/product/executions/pipeline/cancel.ts';
import { completeExecutions } from '../../../src/product/executions/pipeline/complete.ts';
import { enqueueDue } from '../../../src/product/executions/pipeline/enqueue.ts';
import { pipeline } from '../../../src/product/executions/pipeline.ts';
import { findWrongCounters } from '../../../src/product/usage/verify.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { untilBlocked } from '../../support/database.ts';
import { testEngine } from '../../support/engine.ts';
import { buildResult } from '../../support/executions.ts';
import { insertTask, insertTasks } from '../../support/task-rows.ts';

const { ctx, alice } = await testEngine(t);

async function start(taskId: number) {
  await enqueueDue(ctx);
  const { started } = await pipeline.claim(ctx, { limit: 10, after: 0 });
  const run = started.find((one) => one.taskId === taskId);
  if (!run) throw new Error('The task was not started.');
  return run;
}
const partitionOf = async (id: number) => {
  const [row] = await queryRows<{ name: string }>(
    ctx.db,
    sql`select tableoid::regclass::text as name from executions where id = ${id}`,
  );
  return row?.name;
};

t.test('An execution that ends moves to the history, and keeps what is known of it', async (t) => {
  const run = await start(await insertTask(ctx, alice().id));
  t.equal(await partitionOf(run.id), 'executions_live');
  const [before] = await ctx.db.select().from(executions).where(eq(executions.id, run.id));
  await inTransaction(ctx, (tx) => completeExecutions(tx, [buildResult(run)]));
  t.equal(await partitionOf(run.id), 'executions_from_1');
  const [after] = await ctx.db.select().from(executions).where(eq(executions.id, run.id));
  const { taskId, trigger, plannedFor, runAt, queuedAt, startedAt, request, createdAt } =
    before as typeof executions.$inferSelect;
  t.match(after, { taskId, trigger, plannedFor, runAt, queuedAt, startedAt, request, createdAt, status: 'completed' });
});

t.test('A result that waits for the end of a cancellation stores nothing', async (t) => {
  const run = await start(await insertTask(ctx, alice().id));
  let storing: Promise<number[]> | undefined;
  await inTransaction(ctx, async (tx) => {
    await tx.db.execute(sql`select from tasks where id = ${run.taskId} for no key update`);
    t.same(await cancelExecutions(tx, [run.id]), [run.id]);
    storing = inTransaction(ctx, (other) => completeExecutions(other, [buildResult(run)]));
    await untilBlocked(ctx.db);
  });
  t.same(await storing, []);
  t.match(await ctx.db.select().from(executions).where(eq(executions.id, run.id)), [{ errorCode: 'CANCELLED' }]);
  t.same(await findWrongCounters(ctx.db), []);
});

t.test('Cancellations, results and claims at once end each execution once', async (t) => {
  const taskIds = await insertTasks(ctx, Array(40).fill(alice().id));
  await enqueueDue(ctx);
  const all = await queryRows<{ id: number; taskId: number }>(
    ctx.db,
    sql`select id, task_id from executions_live order by id`,
  );
  const ended: number[] = [];
  const claiming = async () => {
    for (let round = 0; round < 15; round++) {
      const { started } = await pipeline.claim(ctx, { limit: 5, after: 0 });
      ended.push(
        ...(await inTransaction(ctx, (tx) =>
          completeExecutions(
            tx,
            started.map((run) => buildResult(run)),
          ),
        )),
      );
    }
  };
  const cancelling = async () => {
    for (const { id, taskId } of all.filter((_, at) => at % 2 === 0)) {
      const cancelled = await inTransaction(ctx, async (tx) => {
        await tx.db.execute(sql`select from tasks where id = ${taskId} for no key update`);
        return cancelExecutions(tx, [id]);
      });
      ended.push(...cancelled);
    }
  };
  await Promise.all([claiming(), claiming(), cancelling(), claiming()]);
  t.equal(taskIds.length, 40);
  t.same([...new Set(ended)].length, ended.length, 'none is ended twice');
  const [left] = await queryRows<{ live: number }>(ctx.db, sql`select count(*)::int as live from executions_live`);
  t.equal(ended.length + (left?.live ?? 0), all.length);
  t.same(await findWrongCounters(ctx.db), []);
});
