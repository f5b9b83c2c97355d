import type postgres from 'postgres';
import type { Ask } from './connection.ts';
import { isFastQuery } from './prepared.ts';

/** Runs when it is awaited; `values` gives the rows as arrays. */
export interface Statement extends PromiseLike<unknown> {
  values(): PromiseLike<unknown>;
}

/** Runs a statement and tells its answer. One that is quick may be put behind others of its kind. */
export type Run = <T>(ask: Ask<T>, isQuick: boolean) => Promise<T>;

/**
 * A statement as drizzle makes and awaits it. Prepared, once for each connection: unprepared, the driver would ask for
 * the types of its parameters each time, a round trip more, and the server would plan it anew.
 */
export function statement(
  text: string,
  params: unknown[] = [],
  options: postgres.UnsafeQueryOptions = {},
  run: Run,
): Statement {
  const query = (sql: postgres.Sql) => sql.unsafe(text, params as never[], { ...options, prepare: true });
  const lazily = (ask: Ask): PromiseLike<unknown> => ({
    // biome-ignore lint/suspicious/noThenProperty: what is awaited runs in a microtask, which `Connection.run` counts on.
    then: (resolve, reject) => run(ask, isFastQuery(text)).then(resolve, reject),
  });
  return { ...lazily(query), values: () => lazily((sql) => query(sql).values()) };
}
