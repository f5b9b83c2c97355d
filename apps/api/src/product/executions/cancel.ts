import { executions, tasks } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, executionNotFound } from '../../errors.ts';
import { inTransaction } from '../../transaction.ts';
import { type Budget, selectBudget } from './budget/budget.ts';
import { cancelExecutions } from './pipeline/cancel.ts';
import { executionFields, toExecution } from './read.ts';

/** Ends a pending or running execution as `CANCELLED` and returns it. Throws 404, and 409 for one that has ended. */
export function cancelExecution(ctx: Context, caller: Caller, executionId: number) {
  return inTransaction(ctx, async (tx) => {
    const { id, status } = await lockExecution(tx, caller, executionId);
    if (status === 'completed' || status === 'failed') {
      throw new AppError(
        'conflict',
        `This execution is ${status} and cannot be cancelled, because only pending and running executions can.`,
      );
    }
    await cancelExecutions(tx, [id]);
    const [cancelled] = await tx.db.select(executionFields).from(executions).where(eq(executions.id, id));
    if (!cancelled) throw executionNotFound();
    return toExecution(cancelled);
  });
}

/**
 * Reads an execution of the caller under the lock of its task: no claim, completion or retry changes it until the commit.
 * Throws 404.
 */
export async function lockExecution({ db }: Context, caller: Caller, id: number) {
  const mine = and(eq(executions.id, id), eq(executions.userId, caller.id));
  const { taskId, userId, status, viaWebhook } = executions;
  const [, [found]] = await Promise.all([
    // Every transaction locks the task before its executions.
    db
      .select({ id: tasks.id })
      .from(executions)
      .innerJoin(tasks, eq(tasks.id, executions.taskId))
      .where(mine)
      .for('no key update', { of: tasks }),
    // A second statement: its snapshot must be taken under the lock.
    db
      .select({
        id: executions.id,
        taskId,
        userId,
        status,
        viaWebhook,
        budget: sql<Budget | null>`(select ${selectBudget} from tasks t where t.id = ${executions.taskId})`,
      })
      .from(executions)
      .where(mine),
  ]);
  if (!found) throw executionNotFound();
  return found;
}
