import type { Connection } from './connection.ts';
import { DatabaseUnavailable, isDatabaseUnavailable } from './errors.ts';
import { type Run, type Statement, statement } from './statement.ts';

/** The client that drizzle works with inside of a transaction. */
export interface TransactionDriver {
  unsafe(text: string, params?: unknown[], options?: object): Statement;
  savepoint<T>(work: (transaction: TransactionDriver) => Promise<T>): Promise<T>;
}

interface Place {
  connection: Connection;
  /** How long each statement may take. */
  leftMs: number;
  /** Called when the connection has nothing more to do with the transaction. */
  release(): void;
}

/**
 * Runs `work` in a transaction and commits; anything thrown rolls back. Nothing that `work` still asks afterwards, or
 * after its connection broke, reaches the database: it would not be in the transaction.
 */
export async function runTransaction<T>(
  { connection, leftMs, release }: Place,
  work: (transaction: TransactionDriver) => Promise<T>,
): Promise<T> {
  let ended = false;
  let failure: unknown;
  const run: Run = async (ask) => {
    if (ended) throw new DatabaseUnavailable('DATABASE_CLOSED', 'The transaction has ended.');
    try {
      return await connection.run(ask, performance.now() + leftMs);
    } catch (error) {
      failure ??= error;
      throw error;
    }
  };
  const tell = (text: string) => run((sql) => sql.unsafe(text), false);
  let savepoints = 0;
  const driver: TransactionDriver = {
    unsafe: (text, params, options) => statement(text, params, options, run),
    async savepoint(inner) {
      savepoints += 1;
      const name = `s${savepoints}`;
      await tell(`savepoint ${name}`);
      try {
        return await inner(driver);
      } catch (error) {
        await tell(`rollback to ${name}`);
        throw error;
      }
    },
  };

  try {
    await tell('begin');
    const result = await work(driver);
    const { command } = await tell('commit');
    // What PostgreSQL answers to a commit when one of the statements has failed.
    if (command === 'ROLLBACK') throw failure;
    ended = true;
    release();
    return result;
  } catch (error) {
    ended = true;
    const undone = connection
      .run((sql) => sql.unsafe('rollback'), Number.POSITIVE_INFINITY)
      .catch((broken) => connection.lose(broken))
      .then(release);
    // Who has waited to the end of their time does not wait for that, too.
    if (!isDatabaseUnavailable(error)) await undone;
    throw error;
  }
}
