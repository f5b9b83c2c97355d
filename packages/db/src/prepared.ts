import type { Db } from './client.ts';

/**
 * A query that drizzle builds once for each database, and not at every call: building costs more than running. In a
 * transaction, which is a database of its own, it is built for that.
 */
export function prepared<Query>(build: (db: Db) => Query): (db: Db) => Query {
  const built = new WeakMap<Db, Query>();
  return (db) => {
    const known = built.get(db) ?? build(db);
    built.set(db, known);
    return known;
  };
}
