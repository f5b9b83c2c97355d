import { queryRows, recordset, tasks } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { taskNotFound } from '../../errors.ts';
import { recordEvents } from '../../platform/events/outbox.ts';
import { assertRevision, type ExpectedRevisions } from '../../platform/queries/revision.ts';
import { afterCommit, inTransaction } from '../../transaction.ts';
import { addUsage, promptTokens, requestedModel } from '../executions/budget/costs.ts';
import { recordUsage, type UsageDelta } from '../usage/record.ts';

interface LiveExecution {
  id: number;
  status: 'pending' | 'running';
  day: string | null;
  reserved: number;
  tokens: number;
  model: string;
}

/** Running executions are aborted; the ledger gets an estimate of them. Throws 404, 412. */
export async function deleteTask(
  ctx: Context,
  caller: Caller,
  id: number,
  expected: ExpectedRevisions = null,
): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    const owned = and(eq(tasks.id, id), eq(tasks.userId, caller.id));
    const [task] = await tx.db
      .select({ name: tasks.name, revision: tasks.revision })
      .from(tasks)
      .where(owned)
      .for('update');
    if (!task) throw taskNotFound();
    assertRevision(task, expected);
    const live = await queryRows<LiveExecution>(
      tx.db,
      sql`
      select e.id, e.status, e.usage_day as day, e.tokens_reserved as reserved, ${requestedModel} as model,
        ${promptTokens} as tokens
      from executions_live e join tasks t on t.id = e.task_id
      where e.user_id = t.user_id and e.task_id = ${id} and e.status in ('pending', 'running') order by e.id for update of e`,
    );
    await recordDeletion(tx, caller.id, live, await countEnded(tx, id));
    const now = tx.now();
    await tx.db.delete(tasks).where(owned);
    const data = { task: { id, name: task.name, deletedAt: now } };
    recordEvents(tx, [{ kind: 'task.deleted', userId: caller.id, taskId: id, data }]);
    afterCommit(tx, () => tx.worker.abort(live.map((execution) => execution.id)));
  });
}

interface EndedOnDay {
  day: string;
  completed: number;
  failed: number;
  stopped: number;
}

const countEnded = (ctx: Context, taskId: number) =>
  queryRows<EndedOnDay>(
    ctx.db,
    sql`
    select coalesce(usage_day, (completed_at at time zone 'UTC')::date)::text as day,
      count(*) filter (where status = 'completed')::int as completed,
      count(*) filter (where status = 'failed')::int as failed,
      count(*) filter (where error_code = 'CANCELLED')::int as stopped
    from executions where task_id = ${taskId} and status in ('completed', 'failed') group by 1`,
  );

async function recordDeletion(
  ctx: Context,
  userId: number,
  live: readonly LiveExecution[],
  ended: readonly EndedOnDay[],
) {
  const running = await addUsage(
    ctx,
    live.filter(({ status }) => status === 'running'),
  );
  const costs = new Map(running.map(({ id, usage }) => [id, usage.costUsd]));
  if (running.length > 0) {
    await ctx.db.execute(sql`
      insert into usage_records (user_id, source, day, executions, model, input_tokens, output_tokens, estimated,
        cost_usd, created_at)
      select ${userId}::int, 'execution', day, 1, model, tokens, 0, true, cost, ${ctx.now().toISOString()}::timestamptz
      from ${recordset(
        'r',
        running.map(({ day, model, tokens, usage }) => ({ day, model, tokens, cost: usage.costUsd })),
        { day: 'date', model: 'text', tokens: 'int', cost: 'float8' },
      )}`);
  }
  await recordUsage(ctx, [
    ...ended.map(({ day, completed, failed, stopped }) => {
      return { userId, day, completed: -completed, failed: -failed, stopped: -stopped };
    }),
    ...live.flatMap(({ id, status, day, reserved, tokens }): UsageDelta[] => {
      if (day === null) return [];
      if (status === 'pending') return [{ userId, day, executions: -1 }];
      return [{ userId, day, tokens, tokensReserved: -reserved, costUsd: costs.get(id) ?? 0 }];
    }),
  ]);
}
