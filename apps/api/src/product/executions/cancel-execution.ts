import { executions } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, executionNotFound } from '../../errors.ts';
import { inTransaction } from '../../transaction.ts';
import { lockExecution } from './locked-execution.ts';
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
