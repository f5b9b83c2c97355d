import { type SQL, sql } from 'drizzle-orm';
import type { Db } from './client.ts';

/** Runs SQL. Columns arrive in camelCase; `T` is unchecked: instants and numbers wider than 32 bits arrive as text. */
export async function queryRows<T>(db: Db, statement: SQL): Promise<T[]> {
  return (await db.execute(statement)) as unknown as T[];
}

export const toInstant = (text: string): Date => new Date(text);

export const toInstantOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));

/**
 * `from ${recordset('r', records, { userId: 'int' })}` is a table with `r.user_id`, passed as an array for each column: JSON
 * costs the database twice as much.
 */
export function recordset<R extends object>(
  alias: string,
  records: readonly R[],
  columns: { readonly [K in keyof R & string]?: string },
): SQL {
  const fields = Object.keys(columns) as (keyof R & string)[];
  const end = `) as ${alias}(${fields.map(toSnakeCase).join(', ')})`;
  const last = fields.length - 1;
  // One flat template: nested ones were a third of the garbage of a run.
  const texts = ['unnest(', ...fields.map((field, n) => `::${columns[field]}[]${n < last ? ', ' : end}`)];
  return sql(Object.assign(texts, { raw: texts }), ...fields.map((field, n) => toArray(records, field, n)));
}

/** A shorter array is filled with nulls, so that a column without values is empty; the first column has all rows. */
function toArray<R extends object>(records: readonly R[], field: keyof R, column: number): string {
  let hasValues = column === 0;
  const elements = records.map((record) => {
    const value = record[field];
    if (value === null || value === undefined) return 'null';
    hasValues = true;
    return toElement(value);
  });
  return hasValues ? `{${elements.join(',')}}` : '{}';
}

function toElement(value: unknown): string {
  if (typeof value === 'string' && value.isWellFormed()) {
    return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null';
  if (typeof value === 'boolean') return String(value);
  if (value instanceof Date) return value.toISOString();
  throw new TypeError('A value cannot be stored.');
}

export const toSnakeCase = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

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
