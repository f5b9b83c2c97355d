import { type ModelAttempt, queryRows, type USAGE_SOURCES, usageRecords } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
import { retryWhileUnavailable } from '../../../lib/queue/retry.ts';
import { type QuotaExceeded, toUtcMonth } from '../../../platform/limits/quotas.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import { recordUsage } from '../../usage/record.ts';
import { type Budget, checkBudget, selectBudget } from '../budget/budget.ts';
import { addMonthCost, loadHighestCost } from '../budget/costs.ts';
import type { ClaimedExecution } from './select-candidates.ts';

const MAX_WAIT_MS = 2000;

export interface RecordedCall {
  source: (typeof USAGE_SOURCES)[number];
  usage: AiUsage | null;
  /** All so far: one that is stored already was recorded by a commit that was not answered. */
  attempts: readonly ModelAttempt[];
  /** The model that is asked next, if its price is to be within the budget. */
  next: string | null;
}

export type Recorded = { kind: 'recorded' } | { kind: 'lost' } | { kind: 'over_budget'; exceeded: QuotaExceeded };

interface LockedRun {
  taskId: number;
  userId: number;
  day: string;
  budget: Budget | null;
  stored: number;
}

/**
 * Stores a call of a run that goes on with another one: usage, cost and the models asked so far. Locks in the order of the
 * end of a run: task, execution, counters. `lost` if another worker has the run, or nobody.
 */
export function recordCall(
  ctx: Context,
  { id, claimToken }: ClaimedExecution,
  { source, usage, attempts, next }: RecordedCall,
  signal: AbortSignal,
): Promise<Recorded> {
  const work = async (tx: Context): Promise<Recorded> => {
    const [run] = await queryRows<LockedRun>(
      tx.db,
      sql`
      select e.task_id, e.user_id, e.usage_day as day, ${selectBudget} as budget,
        coalesce(json_array_length(e.model_attempts), 0) as stored
      from executions_live e join tasks t on t.id = e.task_id
      where e.id = ${id} and e.status = 'running' and e.claim_token = ${claimToken}
      for no key update of t, e`,
    );
    if (!run) return { kind: 'lost' };
    const { taskId, userId, day, stored } = run;
    const costUsd = stored < attempts.length ? (usage?.costUsd ?? 0) : 0;
    if (stored < attempts.length) {
      await tx.db.execute(sql`
        update executions_live set model_attempts = ${JSON.stringify(attempts)}::json,
          provider = case when ${next}::text is null then provider end,
          request = case when ${next}::text is null then request
            else json_build_object('system', request -> 'system', 'prompt', request -> 'prompt', 'model', ${next}::text) end
        where id = ${id}`);
      if (usage) {
        await tx.db.execute(sql`
          update tasks t set ${addMonthCost(sql`${toUtcMonth(day)}::text`, sql`${costUsd}::float8`)} where t.id = ${taskId}`);
        const { inputTokens, outputTokens, toolUses = 0, toolCostUsd = 0 } = usage;
        await tx.db.insert(usageRecords).values({
          ...usage,
          userId,
          executionId: id,
          source,
          day,
          executions: 0,
          toolUses,
          toolCostUsd,
          createdAt: tx.now(),
        });
        await recordUsage(tx, [{ userId, day, tokens: inputTokens + outputTokens, costUsd }]);
        afterCommit(tx, () => tx.metrics.usageRecorded(usage));
      }
    }
    if (next === null || run.budget === null) return { kind: 'recorded' };
    const budget = { ...run.budget, models: [next] };
    const exceeded = checkBudget(budget, await loadHighestCost(tx, [budget]), tx.now(), { addedUsd: costUsd });
    return exceeded ? { kind: 'over_budget', exceeded } : { kind: 'recorded' };
  };
  return retryWhileUnavailable(() => inTransaction(ctx, work), {
    maxWaitMs: MAX_WAIT_MS,
    signal,
    onRetry: (error) => ctx.log.error({ err: error, executionId: id }, 'recording a call failed'),
  });
}
