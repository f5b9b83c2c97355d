import { setTimeout as delay } from 'node:timers/promises';
import { isTransient } from '@carillon/db';

const MIN_WAIT_MS = 100;

interface RetryOptions {
  maxWaitMs: number;
  /** After the abort, the next failure is thrown. */
  signal: AbortSignal;
  onRetry(error: unknown): void;
}

/** Retries transient database errors, with waits that double up to `maxWaitMs`. */
export async function retryWhileUnavailable<T>(
  work: () => Promise<T>,
  { maxWaitMs, signal, onRetry }: RetryOptions,
): Promise<T> {
  for (let waitMs = MIN_WAIT_MS; ; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || signal.aborted) throw error;
      onRetry(error);
      // An abort ends the wait; one last attempt follows.
      await delay(waitMs, undefined, { signal }).catch(() => {});
    }
  }
}

interface StoreOptions<T> {
  maxWaitMs: number;
  signal: AbortSignal;
  /** Stores all or none. */
  store(items: readonly T[]): Promise<unknown>;
  onFailure(error: unknown, items: readonly T[]): void;
  /** For an item that cannot be stored alone. */
  onUnstorable(item: T, error: unknown): unknown;
}

/** Retries while the database is unavailable, until `signal` aborts. Other failures store the items one by one. */
export async function storeBatch<T>(items: readonly T[], options: StoreOptions<T>): Promise<void> {
  const { store, onFailure, onUnstorable, ...retry } = options;
  try {
    await retryWhileUnavailable(() => store(items), { ...retry, onRetry: (error) => onFailure(error, items) });
  } catch (error) {
    if (isTransient(error)) throw error;
    const [item, ...others] = items;
    if (item === undefined) return;
    if (others.length === 0) {
      await onUnstorable(item, error);
      return;
    }
    onFailure(error, items);
    for (const one of items) await storeBatch([one], options);
  }
}
