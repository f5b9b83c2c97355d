import { DatabaseUnavailable, isDatabaseUnavailable } from '../errors.ts';
import type { Connection } from './connection.ts';
import { createStatement, type Run, type Statement } from './statement.ts';

export interface TransactionClient {
  unsafe(text: string, params?: unknown[], options?: object): Statement;
  savepoint<T>(work: (transaction: TransactionClient) => Promise<T>): Promise<T>;
}

interface ExclusiveConnection {
  connection: Connection;
  /** The time limit of each statement. */
  statementMs: number;
  release(): void;
}

/** Statements that `work` sends after its end or a lost connection are rejected: they would run outside the transaction. */
export async function runTransaction<T>(
  { connection, statementMs, release }: ExclusiveConnection,
  work: (transaction: TransactionClient) => Promise<T>,
): Promise<T> {
  let hasEnded = false;
  let firstError: unknown;
  const run: Run = async (send) => {
    if (hasEnded) throw new DatabaseUnavailable('DATABASE_CLOSED', 'The transaction has ended.');
    try {
      return await connection.run(send, performance.now() + statementMs);
    } catch (error) {
      firstError ??= error;
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
    if (answer.command === 'ROLLBACK') throw firstError;
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
    throw error;
  }
}
