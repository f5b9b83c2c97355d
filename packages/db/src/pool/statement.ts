import type postgres from 'postgres';
import type { Prepare, Send } from './connection.ts';

/** Runs when it is awaited; `values` resolves to the rows as arrays. */
export interface Statement extends PromiseLike<unknown> {
  values(): PromiseLike<unknown>;
}

export type Run = <T>(send: Send<T>) => Promise<T>;

/** Prepared, or the driver would ask for the parameter types at every call, a further round trip. */
export function createStatement(
  run: Run,
  text: string,
  params: unknown[] = [],
  options: postgres.UnsafeQueryOptions = {},
): Statement {
  const query = (sql: postgres.Sql, prepare: Prepare) =>
    sql.unsafe(text, params as never[], { ...options, ...prepare(text) });
  const lazy = (send: Send): PromiseLike<unknown> => ({
    // biome-ignore lint/suspicious/noThenProperty: an awaited thenable runs in a microtask, as `Connection.run` requires.
    then: (resolve, reject) => run(send).then(resolve, reject),
  });
  return { ...lazy(query), values: () => lazy((sql, prepare) => query(sql, prepare).values()) };
}
