import type { Db } from '../client.ts';

interface Options {
  /** `shared` for a row or few found by key, see pool/README.md. In a transaction its own connection is used. */
  connection?: 'own' | 'shared';
}

/** A query that is built once for each database, because building costs Drizzle more than running it. */
export function preparedQuery<Query extends object>(
  build: (db: Db) => Query,
  { connection = 'own' }: Options = {},
): (db: Db) => Query {
  const queries = new WeakMap<Db, Query>();
  return (db) => {
    const known = queries.get(db);
    if (known) return known;
    const query = build(connection === 'shared' ? (db.onSharedConnection ?? db) : db);
    queries.set(db, query);
    return query;
  };
}
