import { type SQL, sql } from 'drizzle-orm';
import type { Db } from './client.ts';

/** Runs SQL. Columns arrive in camelCase; `T` is unchecked: instants and numbers wider than 32 bits arrive as text. */
export async function queryRows<T>(db: Db, statement: SQL): Promise<T[]> {
  return (await db.execute(statement)) as unknown as T[];
}

export const toInstant = (text: string): Date => new Date(text);

export const toInstantOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** `from ${recordset('r', records, { userId: 'int' })}` is a table with `r.user_id`, passed as one parameter. */
export function recordset<R extends object>(
  alias: string,
  records: readonly R[],
  columns: { readonly [K in keyof R & string]?: string },
): SQL {
  const fields = (Object.keys(columns) as (keyof R & string)[]).map((field) => ({ field, column: toSnakeCase(field) }));
  const rows = records.map((record) => {
    const row: Record<string, unknown> = {};
    for (const { field, column } of fields) row[column] = record[field];
    return row;
  });
  const definitions = fields.map(({ field, column }) => `${column} ${columns[field]}`).join(', ');
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as ${sql.raw(`${alias}(${definitions})`)}`;
}

const toSnakeCase = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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
