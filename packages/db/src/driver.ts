import type postgres from 'postgres';
import type { Pool } from './pool.ts';
import { type Run, type Statement, statement } from './statement.ts';
import { runTransaction, type TransactionDriver } from './transaction.ts';

/** What drizzle asks of a client of postgres.js: statements, and transactions with savepoints. */
export interface Driver {
  unsafe(text: string, params?: unknown[], options?: postgres.UnsafeQueryOptions): Statement;
  begin<T>(work: (transaction: TransactionDriver) => Promise<T>): Promise<T>;
}

/**
 * A driver over `pool`. A statement, also one of a transaction, is answered or rejected with a `DatabaseUnavailable` within
 * `deadlineMs`, the waiting for a connection included.
 */
export function createDriver(pool: Pool, deadlineMs: number): Driver {
  const run: Run = (ask, isQuick) => {
    const until = performance.now() + deadlineMs;
    const connection = pool.share(isQuick);
    if (connection) return connection.run(ask, until, () => pool.release(connection));
    return pool
      .acquire(until, { alone: false })
      .then((waitedFor) => waitedFor.run(ask, until, () => pool.release(waitedFor)));
  };
  return {
    unsafe: (text, params, options) => statement(text, params, options, run),
    async begin(work) {
      const askedAt = performance.now();
      const connection = await pool.acquire(askedAt + deadlineMs, { alone: true });
      // Who has waited has less time for each statement: the caller waits for both.
      const leftMs = askedAt + deadlineMs - performance.now();
      return runTransaction({ connection, leftMs, release: () => pool.release(connection) }, work);
    },
  };
}
