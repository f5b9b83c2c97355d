import type postgres from 'postgres';
import { parse } from 'postgres-array';
import { DatabaseUnavailable, databaseErrorCode, isDatabaseUnavailable, SQLSTATE } from '../errors.ts';
import { type Connection, createStatement, type Run, type Statement } from './connection.ts';
import type { Pool } from './pool.ts';

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

const toText = (element: string): unknown => element;
const toBoolean = (element: string): unknown => element === 't';

/** How the elements of PostgreSQL's array types are read, by the type's OID. Integers wider than 32 bits stay text. */
const ELEMENTS: Record<number, (element: string) => unknown> = {
  1000: toBoolean, // boolean[]
  1005: Number, // smallint[]
  1007: Number, // integer[]
  1009: toText, // text[]
  1015: toText, // varchar[]
  1016: toText, // bigint[]
  1021: Number, // real[]
  1022: Number, // double precision[]
  1231: toText, // numeric[]
  2951: toText, // uuid[]
};

/** The driver's own query for the types ends the process if the connection breaks during it. */
export const ARRAY_PARSERS: Record<number, (text: string) => unknown> = Object.fromEntries(
  Object.entries(ELEMENTS).map(([oid, toElement]) => [oid, (text: string) => parse(text, toElement)]),
);

interface TransactionClient {
  unsafe(text: string, params?: unknown[], options?: object): Statement;
  savepoint<T>(work: (transaction: TransactionClient) => Promise<T>): Promise<T>;
}

interface ExclusiveConnection {
  connection: Connection;
  /** The time limit of each statement. */
  statementMs: number;
  release(): void;
}

/** Of a statement behind the one that has failed. */
const isFollowing = (error: unknown) => databaseErrorCode(error) === SQLSTATE.transactionFailed;

/** Statements that `work` sends after its end or a lost connection are rejected: they would run outside the transaction. */
export async function runTransaction<T>(
  { connection, statementMs, release }: ExclusiveConnection,
  work: (transaction: TransactionClient) => Promise<T>,
): Promise<T> {
  let hasEnded = false;
  /** The last one that failed the transaction, or its savepoint. */
  let failure: unknown;
  const run: Run = async (send) => {
    if (hasEnded) throw new DatabaseUnavailable('DATABASE_CLOSED', 'The transaction has ended.');
    try {
      return await connection.run(send, performance.now() + statementMs);
    } catch (error) {
      if (!isFollowing(error)) failure = error;
      throw error;
    }
  };
  const command = (text: string) => run((sql) => sql.unsafe(text));
  let savepoints = 0;
  const client: TransactionClient = {
    unsafe: (text, params, options) => createStatement(run, text, params, options),
    async savepoint(inner) {
      savepoints += 1;
      const name = `s${savepoints}`;
      await command(`savepoint ${name}`);
      try {
        return await inner(client);
      } catch (error) {
        await command(`rollback to ${name}`);
        throw error;
      }
    },
  };

  try {
    // Not awaited, which saves a round trip: the first statement follows on the same connection.
    const begun = command(connection.begin);
    begun.catch(() => {});
    const result = await work(client);
    await begun;
    const answer = await command('commit');
    // PostgreSQL answers a commit with ROLLBACK when a statement has failed, even if `work` ignored the error.
    if (answer.command === 'ROLLBACK') throw failure;
    hasEnded = true;
    release();
    return result;
  } catch (error) {
    hasEnded = true;
    const rolledBack = connection
      .run((sql) => sql.unsafe('rollback'), Number.POSITIVE_INFINITY)
      .catch((broken) => connection.lose(broken))
      .then(release);
    // After a timeout the caller does not wait for the rollback as well.
    if (!isDatabaseUnavailable(error)) await rolledBack;
    // Of statements that were sent together, one behind the failure may reach the caller first.
    throw isFollowing(error) ? failure : error;
  }
}
