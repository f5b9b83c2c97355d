import { setTimeout as delay } from 'node:timers/promises';
import { isTransient } from '@carillon/db';
import { type Context, inTransaction } from '../context.ts';
import { completeExecutions } from './complete.ts';
import { type ExecutionResult, permanentFailure } from './execution-result.ts';

const MAX_WAIT_MS = 2000;
/** Characters of results in one transaction: more of them could outlast the timeout of a statement. */
const MAX_BATCH_LENGTH = 1_000_000;

/**
 * Completes executions of this process, for as long as the database is unavailable: a result that was paid for is not
 * dropped. Aborting `signal` ends the retries. A result that cannot be stored as it is fails as `PROVIDER_ERROR`, and
 * alone: the others of its batch are stored.
 */
export async function storeResults(ctx: Context, results: readonly ExecutionResult[], signal: AbortSignal) {
  for (const batch of toBatches(results)) await storeBatch(ctx, batch, signal);
}

/** Whether one transaction may store all of them. */
export const isOneBatch = (results: readonly ExecutionResult[]): boolean => toBatches(results).length <= 1;

function toBatches(results: readonly ExecutionResult[]): ExecutionResult[][] {
  const batches: ExecutionResult[][] = [];
  let left = 0;
  for (const result of results) {
    const { length } = result.ok ? result.text : result.message;
    if (length > left || batches.length === 0) {
      batches.push([]);
      left = MAX_BATCH_LENGTH;
    }
    batches.at(-1)?.push(result);
    left -= length;
  }
  return batches;
}

async function storeBatch(ctx: Context, results: readonly ExecutionResult[], signal: AbortSignal): Promise<void> {
  for (let wait = 100; ; wait = Math.min(wait * 2, MAX_WAIT_MS)) {
    try {
      await inTransaction(ctx, (tx) => completeExecutions(tx, results));
      return;
    } catch (error) {
      ctx.log.error({ err: error, executionIds: results.map(({ id }) => id) }, 'results could not be stored');
      if (!isTransient(error)) return storeApart(ctx, results, signal);
      if (signal.aborted) throw error;
      await delay(wait, undefined, { signal }).catch(() => {});
    }
  }
}

const UNSTORABLE = permanentFailure('PROVIDER_ERROR', 'The answer of the provider could not be stored.');

async function storeApart(ctx: Context, results: readonly ExecutionResult[], signal: AbortSignal) {
  if (results.length > 1) {
    for (const result of results) await storeBatch(ctx, [result], signal);
    return;
  }
  const [result] = results;
  if (!result) return;
  if (result.ok || result.message !== UNSTORABLE.message) {
    return storeBatch(ctx, [{ ...result, ...UNSTORABLE }], signal);
  }
  if (result.usage) return storeBatch(ctx, [{ ...result, usage: null }], signal);
  ctx.log.error({ executionId: result.id }, 'an execution was left to its lease');
}
