import type { Db } from './client.ts';

interface Options {
  /**
   * `shared` for statements of a row or few, found by key: many of them at once go over one connection, each behind the
   * others (see pool/README.md). Inside a transaction a statement uses the connection of that transaction.
   */
  connection?: 'own' | 'shared';
}

/** A query that is built once for each database, because building costs Drizzle more than running it. */
export function preparedQuery<Query>(
  build: (db: Db) => Query,
  { connection = 'own' }: Options = {},
): (db: Db) => Query {
  const queries = new WeakMap<Db, Query>();
  return (db) => {
    const query = queries.get(db) ?? build(connection === 'shared' ? (db.onSharedConnection ?? db) : db);
    queries.set(db, query);
    return query;
  };
}
