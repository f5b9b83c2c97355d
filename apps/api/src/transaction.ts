import type { Db } from '@carillon/db';
import { databaseErrorCode, isOutage, SQLSTATE } from '@carillon/db/errors';
import type { Context } from './context.ts';

type Work<T> = (tx: Context) => Promise<T>;
type Write<T> = (tx: Context, items: readonly T[]) => Promise<void>;

/** What waits for the end of a transaction. */
interface Pending {
  /** The items by the function that writes them. */
  writes: Map<Write<never>, unknown[]>;
  callbacks: (() => void)[];
}

/** By the database handle of the transaction. */
const pendingOf = new WeakMap<Db, Pending>();

const MAX_ATTEMPTS = 3;
const REPEATED: readonly (string | undefined)[] = [SQLSTATE.deadlock, SQLSTATE.serializationFailure];

/**
 * Repeats `work` after a deadlock, or when a row that it locks was moved to another partition: it must have no effects
 * outside of the database. Inside another transaction `work` is a part of it.
 */
export async function inTransaction<T>(ctx: Context, work: Work<T>): Promise<T> {
  if (pendingOf.has(ctx.db)) return work(ctx);
  for (let attempt = 1; ; attempt++) {
    try {
      return await runTransaction(ctx, work);
    } catch (error) {
      if (!REPEATED.includes(databaseErrorCode(error)) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function runTransaction<T>(ctx: Context, work: Work<T>): Promise<T> {
  const pending: Pending = { writes: new Map(), callbacks: [] };
  let writing: Promise<void>[] = [];
  // 1. Begin.
  const result = await ctx.db.transaction(async (db) => {
    pendingOf.set(db, pending);
    const tx = { ...ctx, db };
    // 2. The work.
    const worked = await work(tx);
    // 3. The last writes, sent with the commit in one round trip.
    writing = [...pending.writes].map(([write, items]) => write(tx, items as never[]));
    let unsent: { error: unknown } | undefined;
    for (const write of writing) write.catch((error) => (unsent ??= { error }));
    // One that throws before it sends its statement leaves nothing that could turn the commit into a rollback.
    await null;
    if (unsent) throw unsent.error;
    return worked;
  });
  // 4. Committed, unless one of the writes failed: then the database answered the commit with a rollback.
  await Promise.all(writing);
  // 5. The callbacks.
  for (const callback of pending.callbacks) callback();
  return result;
}

/**
 * Like `inTransaction`. If the database becomes unavailable during the commit, `onUnanswered` gets the result: whether it was
 * committed is then unknown.
 */
export async function inReportedTransaction<T>(
  ctx: Context,
  work: Work<T>,
  onUnanswered: ((result: T) => void) | undefined,
): Promise<T> {
  let result: T | undefined;
  try {
    return await inTransaction(ctx, async (tx) => {
      result = await work(tx);
      return result;
    });
  } catch (error) {
    if (result !== undefined && isOutage(error)) onUnanswered?.(result);
    throw error;
  }
}

/**
 * Passes all `items` of the transaction to one call of `write` at its end, which sends one statement at once. The locks that
 * `write` takes are the last ones of every transaction, and held shortest.
 */
export function atCommit<T>(tx: Context, write: Write<T>, items: readonly T[]): void {
  const pending = pendingOf.get(tx.db);
  if (!pending) throw new Error(`${write.name} needs a transaction.`);
  const waiting = pending.writes.get(write);
  if (waiting) waiting.push(...items);
  else pending.writes.set(write, [...items]);
}

/** Calls `callback` at once outside of a transaction. */
export function afterCommit(ctx: Context, callback: () => void): void {
  const pending = pendingOf.get(ctx.db);
  if (pending) pending.callbacks.push(callback);
  else callback();
}
