import { setTimeout as delay } from 'node:timers/promises';
import { type Context, inTransaction, sqlState } from '../context.ts';
import { type End, type Outcome, settleExecutions } from './settle.ts';

const LONGEST_WAIT_MS = 5000;

/**
 * Settles executions that ended in this process, however long the database is away: a result that was paid for is not
 * dropped. `signal` ends the waiting when the process has to go. What cannot be stored as it is ends as
 * `PROVIDER_ERROR`, and alone: it takes nobody else's result with it.
 */
export async function storeEnds(ctx: Context, ends: readonly End[], signal: AbortSignal): Promise<void> {
  for (let wait = 100; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      await inTransaction(ctx, (tx) => settleExecutions(tx, ends));
      return;
    } catch (error) {
      ctx.log.error({ err: error, executionIds: ends.map(({ id }) => id) }, 'results could not be stored');
      if (!passes(error)) return storeApart(ctx, ends, signal);
      if (signal.aborted) throw error;
      await delay(wait, undefined, { signal }).catch(() => {});
    }
  }
}

/** SQLSTATE classes of a server that is away, busy or stopping, and that undid the transaction for its own reasons. */
const PASSING_CLASSES = new Set(['08', '25', '40', '53', '55', '57', '58']);

/** Whether an error may be gone the next time. Any other comes back for ever, faults of ours included. */
function passes(error: unknown): boolean {
  const code = sqlState(error);
  if (code === undefined) return false;
  // What is no SQLSTATE comes from the network or the driver.
  return !/^[0-9A-Z]{5}$/.test(code) || PASSING_CLASSES.has(code.slice(0, 2));
}

const UNSTORABLE: Outcome = {
  ok: false,
  errorCode: 'PROVIDER_ERROR',
  message: 'The answer of the provider could not be stored.',
  retryable: false,
  retryAfterMs: null,
};

async function storeApart(ctx: Context, ends: readonly End[], signal: AbortSignal) {
  if (ends.length > 1) {
    for (const end of ends) await storeEnds(ctx, [end], signal);
    return;
  }
  const [end] = ends;
  if (!end) return;
  if (end.outcome !== UNSTORABLE) return storeEnds(ctx, [{ ...end, outcome: UNSTORABLE }], signal);
  if (end.usage) return storeEnds(ctx, [{ ...end, usage: null }], signal);
  ctx.log.error({ executionId: end.id }, 'an execution was left to its lease');
}
