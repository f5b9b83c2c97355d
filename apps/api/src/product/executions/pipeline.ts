import type { Context } from '../../context.ts';
import { afterCommit, inReportedTransaction } from '../../transaction.ts';
import { type ClaimOptions, type ClaimResult, claim } from './pipeline/claim.ts';
import { enqueueDue } from './pipeline/enqueue.ts';
import type { ExecutionResult } from './pipeline/execution-result.ts';
import { loadProviderLimits } from './pipeline/provider-limits.ts';
import { runExecution, traceExecution } from './pipeline/run.ts';
import type { ClaimedExecution } from './pipeline/select-candidates.ts';
import { storeResults } from './pipeline/store-results.ts';

interface Options extends Omit<ClaimOptions, 'limits'> {
  /** Gets the result if the commit was not answered. */
  onUnanswered?(result: ClaimResult): void;
}

/** The life of an execution, in order: planned, claimed, run, completed. Only `run` takes long, and it holds no connection. */
export const pipeline = {
  /** 1. Due tasks and retries become pending executions, or entries of the ledger that say why not. */
  enqueue: enqueueDue,

  /** 2. Pending executions start, within the limits and quotas. */
  async claim(ctx: Context, { onUnanswered, ...options }: Options): Promise<ClaimResult> {
    const startedAt = performance.now();
    const limits = await loadProviderLimits(ctx);
    const work = (tx: Context) => {
      afterCommit(tx, () => tx.metrics.executionsClaimed(performance.now() - startedAt));
      return claim(tx, { ...options, limits });
    };
    return inReportedTransaction(ctx, work, onUnanswered);
  },

  /** 3. Asks the model. A failure is a value, too. */
  run: (ctx: Context, execution: ClaimedExecution, signal: AbortSignal): Promise<ExecutionResult> =>
    traceExecution(ctx, execution, async (span) => {
      const result = await runExecution(ctx, execution, signal);
      if (!result.ok) span.fail(result.errorCode);
      return result;
    }),

  /** 4. The result is stored, with what follows from it. */
  complete: storeResults,
};
