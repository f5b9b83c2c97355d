import type { Context } from '../../../../context.ts';
import { applyUsage, type QuotaAccount } from '../../../../platform/limits/quotas.ts';
import { afterCommit, inReportedTransaction } from '../../../../transaction.ts';
import { recordUsage } from '../../../usage/record.ts';
import { loadHighestCost, sumMonthCosts } from '../../budget/costs.ts';
import { followSuccesses } from '../../result/last-success.ts';
import { failOverQuota, toUsageDeltas, writeResults } from '../complete.ts';
import type { ExecutionResult } from '../execution-result.ts';
import { writeFollowUps } from '../follow-ups.ts';
import { loadProviderLimits } from '../provider-limits.ts';
import { findRetryTime } from '../retries.ts';
import {
  type ClaimOptions,
  type ClaimResult,
  decideStarts,
  recordStartEvents,
  selectCandidates,
  writeStarts,
} from './claim.ts';
import { lockCandidates } from './lock-candidates.ts';

/** Completes executions and starts others in their slots, in one transaction. */
export async function completeAndClaim(
  ctx: Context,
  results: readonly ExecutionResult[],
  options: ClaimOptions,
): Promise<ClaimResult> {
  const startedAt = performance.now();
  const limits = await loadProviderLimits(ctx);
  const work = async (tx: Context) => {
    afterCommit(tx, () => tx.metrics.executionsClaimed(performance.now() - startedAt));
    // Results first: they may wait for row locks, and other processes can still claim meanwhile.
    const [completed, { candidates, ...round }] = await Promise.all([
      writeResults(tx, results),
      selectCandidates(tx, options, limits),
    ]);
    if (completed.length + candidates.length === 0) return { started: [], refused: 0, lost: 0, ...round };

    const now = tx.now();
    // One ordered lock over all accounts: locking them per step could deadlock.
    const userIds = [...completed, ...candidates].map(({ userId }) => userId);
    const retried = completed.filter((one) => findRetryTime(tx, one) !== null).map(({ taskId }) => taskId);
    const { accounts, startable, lost } = await lockCandidates(tx, candidates, userIds, now, retried);
    const completedUsage = toUsageDeltas(completed);
    for (const delta of completedUsage) applyUsage(accounts.get(delta.userId) as QuotaAccount, delta, now);
    const highestCost = await loadHighestCost(
      tx,
      startable.map(({ budget }) => budget),
    );
    const costs = sumMonthCosts(completed);
    const { starting, refused, usage } = decideStarts({
      candidates: followSuccesses(startable, completed),
      accounts,
      highestCost,
      costs,
      now,
    });
    await Promise.all([
      writeStarts(tx, starting, now),
      recordUsage(tx, [...completedUsage, ...usage]),
      writeFollowUps(tx, completed),
    ]);
    recordStartEvents(tx, starting, now);
    await failOverQuota(tx, refused);
    return { started: starting, refused: refused.length, lost, ...round };
  };
  return inReportedTransaction(ctx, work, options.onUnanswered);
}
