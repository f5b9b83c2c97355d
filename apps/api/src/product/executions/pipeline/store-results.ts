import type { Context } from '../../../context.ts';
import { storeBatch } from '../../../lib/queue/retry.ts';
import { inTransaction } from '../../../transaction.ts';
import { completeExecutions } from './complete.ts';
import { type ExecutionResult, permanentFailure } from './execution-result.ts';

const MAX_WAIT_MS = 2000;
const MAX_BATCH = 200;
/** In characters: more could exceed the statement timeout. */
const MAX_BATCH_LENGTH = 1_000_000;
const UNSTORABLE = permanentFailure('PROVIDER_ERROR', 'The answer of the provider could not be stored.');

/**
 * Retries while the database is unavailable, until `signal` aborts: a paid result is not dropped. A result that cannot
 * be stored becomes a `PROVIDER_ERROR`, if need be without usage.
 */
export async function storeResults(ctx: Context, results: readonly ExecutionResult[], signal: AbortSignal) {
  await store(ctx, results, signal, (result) =>
    store(ctx, [{ ...result, ...UNSTORABLE }], signal, (failed) =>
      store(ctx, [{ ...failed, usage: null }], signal, ({ id }) =>
        ctx.log.error({ executionId: id }, 'storing a result failed: the execution runs again when its lease expires'),
      ),
    ),
  );
}

/** How many of the first `results` fit into one transaction: at least one, if there is any. */
export function countStorable(results: readonly ExecutionResult[]): number {
  let length = 0;
  const tooMany = results.findIndex((result, n) => {
    length += result.ok ? result.text.length + countCitations(result) : result.message.length;
    return n > 0 && (n === MAX_BATCH || length > MAX_BATCH_LENGTH);
  });
  return tooMany === -1 ? results.length : tooMany;
}

function logFailure(ctx: Context, error: unknown, results: readonly ExecutionResult[]) {
  ctx.log.error({ err: error, executionIds: results.map(({ id }) => id) }, 'storing results failed');
}

function store(
  ctx: Context,
  results: readonly ExecutionResult[],
  signal: AbortSignal,
  onUnstorable: (result: ExecutionResult) => unknown,
): Promise<void> {
  return storeBatch(results, {
    maxWaitMs: MAX_WAIT_MS,
    signal,
    store: (batch) => inTransaction(ctx, (tx) => completeExecutions(tx, batch)),
    onFailure: (error, batch) => logFailure(ctx, error, batch),
    onUnstorable(result, error) {
      logFailure(ctx, error, [result]);
      return onUnstorable(result);
    },
  });
}

const countCitations = ({ citations = [] }: ExecutionResult & { ok: true }) =>
  citations.reduce((sum, { url, title }) => sum + url.length + title.length, 0);
