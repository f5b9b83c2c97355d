import type postgres from 'postgres';
import type { Connection } from './connection.ts';
import type { Pool } from './pool.ts';
import { createStatement, type Run, type Statement } from './statement.ts';
import { runTransaction, type TransactionClient } from './transaction.ts';

export interface Client {
  unsafe(text: string, params?: unknown[], options?: postgres.UnsafeQueryOptions): Statement;
  begin<T>(work: (transaction: TransactionClient) => Promise<T>): Promise<T>;
}

/** Every statement is answered or rejected within `deadlineMs`, waiting for a connection included. */
export const createRun =
  (pool: Pool, deadlineMs: number, { shared = false } = {}): Run =>
  (send) => {
    const until = performance.now() + deadlineMs;
    const runOn = (connection: Connection) => connection.run(send, until, () => pool.release(connection));
    const connection = pool.tryAcquire({ shared });
    return connection ? runOn(connection) : pool.acquire(until, { exclusive: false }).then(runOn);
  };

/** `run` is for statements outside of transactions, which are on connections of `pool`. */
export function createClient(pool: Pool, deadlineMs: number, run: Run): Client {
  return {
    unsafe: (text, params, options) => createStatement(run, text, params, options),
    async begin(work) {
      const until = performance.now() + deadlineMs;
      const connection = await pool.acquire(until, { exclusive: true });
      // The wait counts towards the time of each statement, because the caller waits for both.
      const statementMs = until - performance.now();
      return runTransaction({ connection, statementMs, release: () => pool.release(connection) }, work);
    },
  };
}
