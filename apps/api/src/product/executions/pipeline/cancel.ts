import { queryRows, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { afterCommit } from '../../../transaction.ts';
import { addUsage, type LostCall, promptTokens, requestedModel } from '../budget/costs.ts';
import { completeExecutions } from './complete.ts';
import { permanentFailure } from './execution-result.ts';

/** `claimToken` and `startedAt` are null if it has not started; one that waits again after an interruption has a start. */
interface LiveExecution extends LostCall {
  id: number;
  claimToken: string | null;
  startedAt: string | null;
}

/**
 * Ends pending and running executions as `CANCELLED` in the caller's transaction, which holds the locks of their tasks, and
 * returns their ids; ended ones are left out. Call it before `lockAccounts`. The processes that run them find their claims
 * gone and abort the calls: this one after the commit, others at their next poll.
 */
export async function cancelExecutions(
  tx: Context,
  ids: readonly number[],
  message = 'The run was cancelled.',
): Promise<number[]> {
  if (ids.length === 0) return [];
  const now = tx.now().getTime();
  const live = await queryRows<LiveExecution>(
    tx.db,
    sql`
    select e.id, e.claim_token, e.started_at, ${requestedModel} as model, ${promptTokens} as tokens
    from executions_live e join tasks t on t.id = e.task_id
    where e.id = any(${`{${ids.join(',')}}`}::int[]) and e.status in ('pending', 'running')`,
  );
  const priced = await addUsage(tx, live);
  const cancelled = await completeExecutions(
    tx,
    priced.map(({ id, claimToken, startedAt, usage }) => {
      const start = claimToken === null ? null : toInstantOrNull(startedAt);
      return {
        id,
        claimToken,
        // The provider may bill the call that is broken off.
        usage: start && usage,
        durationMs: start && Math.max(0, now - start.getTime()),
        ...permanentFailure('CANCELLED', message),
      };
    }),
  );
  afterCommit(tx, () => tx.worker.abort(cancelled));
  return cancelled;
}
