import type postgres from 'postgres';
import type { Send } from './connection.ts';

/** Runs when it is awaited; `values` resolves to the rows as arrays. */
export interface Statement extends PromiseLike<unknown> {
  values(): PromiseLike<unknown>;
}

/** Runs a statement on the connection that its caller chose. */
export type Run = <T>(send: Send<T>) => Promise<T>;

/**
 * A prepared statement. For an unprepared one the driver would ask the server for the parameter types at every call, a
 * further round trip, and the server would plan it each time.
 */
export function createStatement(
  run: Run,
  text: string,
  params: unknown[] = [],
  options: postgres.UnsafeQueryOptions = {},
): Statement {
  const query = (sql: postgres.Sql) => sql.unsafe(text, params as never[], { ...options, prepare: true });
  const lazy = (send: Send): PromiseLike<unknown> => ({
    // biome-ignore lint/suspicious/noThenProperty: an awaited thenable runs in a microtask, as `Connection.run` requires.
    then: (resolve, reject) => run(send).then(resolve, reject),
  });
  return { ...lazy(query), values: () => lazy((sql) => query(sql).values()) };
}
