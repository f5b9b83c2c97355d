import { executions, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { taskNotFound } from '../../errors.ts';
import { chargeExecution, lockActiveAccount } from '../../platform/limits/quotas.ts';
import { afterCommit, inTransaction } from '../../transaction.ts';
import { recordUsage } from '../usage/record.ts';
import { assertWithinBudget } from './budget/assert-within-budget.ts';
import { type Budget, selectBudget } from './budget/budget.ts';

/** Queues an execution now, regardless of the task's schedule and state. Throws 404, and 402 over quota. */
export async function executeTask(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  taskId: number,
  trigger: 'manual' | 'inbound' = 'manual',
  inboundData: Record<string, unknown> | null = null,
) {
  const queued = await inTransaction(ctx, async (tx) => {
    const now = tx.now();
    // Every transaction locks the task before the account.
    const [[task], account] = await Promise.all([
      queryRows<{ budget: Budget | null }>(
        tx.db,
        sql`select ${selectBudget} as budget from tasks t where t.id = ${taskId} and t.user_id = ${caller.id} for key share`,
      ),
      lockActiveAccount(tx, caller.id),
    ]);
    if (!task || !account) throw taskNotFound();
    const usage = chargeExecution(account, now);
    await assertWithinBudget(tx, task.budget);
    const [[execution]] = await Promise.all([
      tx.db
        .insert(executions)
        .values({
          taskId,
          userId: caller.id,
          status: 'pending',
          trigger,
          viaWebhook: trigger === 'inbound',
          inboundData,
          runAt: now,
          queuedAt: now,
          usageDay: usage.day,
          createdAt: now,
        })
        .returning({ executionId: executions.id, startedAt: executions.createdAt }),
      recordUsage(tx, [usage]),
    ]);
    return execution as { executionId: number; startedAt: Date };
  });
  ctx.trace.mark(`execution ${queued.executionId}`);
  afterCommit(ctx, () => ctx.worker.wakeExecutions());
  return queued;
}
