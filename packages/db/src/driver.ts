import type postgres from 'postgres';
import type { Ask } from './connection.ts';
import type { Pool } from './pool.ts';
import { runTransaction, type TransactionDriver } from './transaction.ts';

/** What drizzle asks of a client of postgres.js: statements, and transactions with savepoints. */
export interface Driver {
  unsafe(text: string, params?: unknown[], options?: postgres.UnsafeQueryOptions): Statement;
  begin<T>(work: (transaction: TransactionDriver) => Promise<T>): Promise<T>;
}

/** Runs when it is awaited; `values` gives the rows as arrays. */
export interface Statement extends PromiseLike<unknown> {
  values(): PromiseLike<unknown>;
}

/** Runs a statement and tells its answer. */
export type Run = <T>(ask: Ask<T>) => Promise<T>;

/**
 * A driver over `pool`. A statement, also one of a transaction, is answered or rejected with a `DatabaseAway` within
 * `deadlineMs`, the waiting for a connection included.
 */
export function createDriver(pool: Pool, deadlineMs: number): Driver {
  const run: Run = (ask) => {
    const until = performance.now() + deadlineMs;
    const connection = pool.share();
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

/** A statement as drizzle makes and awaits it. */
export function statement(
  text: string,
  params: unknown[] = [],
  options: postgres.UnsafeQueryOptions = {},
  run: Run,
): Statement {
  const query = (sql: postgres.Sql) => sql.unsafe(text, params as never[], options);
  const lazily = (ask: Ask): PromiseLike<unknown> => ({
    // biome-ignore lint/suspicious/noThenProperty: what is awaited runs in a microtask, which `Connection.run` counts on.
    then: (resolve, reject) => run(ask).then(resolve, reject),
  });
  return { ...lazily(query), values: () => lazily((sql) => query(sql).values()) };
}
