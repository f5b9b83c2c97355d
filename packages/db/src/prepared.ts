import type { Db } from './client.ts';

/**
 * A query that drizzle builds once for each database, and not at every call: building costs more than running. In a
 * transaction, which is a database of its own, it is built for that.
 */
export function preparedQuery<Query>(build: (db: Db) => Query): (db: Db) => Query {
  const built = new WeakMap<Db, Query>();
  return (db) => {
    const known = built.get(db) ?? build(db);
    built.set(db, known);
    return known;
  };
}

/** Each is the same text for every database. */
const lookUps = new Set<string>();

/** Whether the statement is one of those of `lookUp`. */
export const isFastQuery = (text: string): boolean => lookUps.has(text);

/**
 * As `prepared`, for a look-up by a key of a row or few: it is quick, so that a crowd of them goes over one connection,
 * each behind the others.
 */
export const fastQuery = <Query extends { getQuery(): { sql: string } }>(
  build: (db: Db) => Query,
): ((db: Db) => Query) =>
  preparedQuery((db) => {
    const query = build(db);
    lookUps.add(query.getQuery().sql);
    return query;
  });
