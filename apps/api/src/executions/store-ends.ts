import { setTimeout as delay } from 'node:timers/promises';
import { isTransient } from '@carillon/db';
import { type Context, inTransaction } from '../context.ts';
import { type End, type Outcome, settleExecutions } from './settle.ts';

const LONGEST_WAIT_MS = 2000;
/** Characters of results that one transaction stores: many long ones would outlast the deadline of a statement. */
const TEXT_AT_ONCE = 1_000_000;

/**
 * Settles executions that ended in this process, however long the database is away: a result that was paid for is not
 * dropped. `signal` ends the waiting when the process has to go. What cannot be stored as it is ends as
 * `PROVIDER_ERROR`, and alone: it takes nobody else's result with it.
 */
export async function storeEnds(ctx: Context, ends: readonly End[], signal: AbortSignal): Promise<void> {
  for (const portion of portionsOf(ends)) await storePortion(ctx, portion, signal);
}

/** Whether one transaction may store all of them. */
export const isOnePortion = (ends: readonly End[]): boolean => portionsOf(ends).length <= 1;

function portionsOf(ends: readonly End[]): End[][] {
  const portions: End[][] = [];
  let room = 0;
  for (const end of ends) {
    const { length } = end.outcome.ok ? end.outcome.text : end.outcome.message;
    if (length > room || portions.length === 0) {
      portions.push([]);
      room = TEXT_AT_ONCE;
    }
    portions.at(-1)?.push(end);
    room -= length;
  }
  return portions;
}

async function storePortion(ctx: Context, ends: readonly End[], signal: AbortSignal): Promise<void> {
  for (let wait = 100; ; wait = Math.min(wait * 2, LONGEST_WAIT_MS)) {
    try {
      await inTransaction(ctx, (tx) => settleExecutions(tx, ends));
      return;
    } catch (error) {
      ctx.log.error({ err: error, executionIds: ends.map(({ id }) => id) }, 'results could not be stored');
      if (!isTransient(error)) return storeApart(ctx, ends, signal);
      if (signal.aborted) throw error;
      await delay(wait, undefined, { signal }).catch(() => {});
    }
  }
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
    for (const end of ends) await storePortion(ctx, [end], signal);
    return;
  }
  const [end] = ends;
  if (!end) return;
  if (end.outcome !== UNSTORABLE) return storePortion(ctx, [{ ...end, outcome: UNSTORABLE }], signal);
  if (end.usage) return storePortion(ctx, [{ ...end, usage: null }], signal);
  ctx.log.error({ executionId: end.id }, 'an execution was left to its lease');
}
