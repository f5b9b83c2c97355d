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
): SQL;
/** @deprecated The JSON alone. */
export function recordset(records: readonly object[]): string;
export function recordset(
  aliasOrRecords: string | readonly object[],
  records: readonly object[] = [],
  columns: Record<string, string | undefined> = {},
): SQL | string {
  if (typeof aliasOrRecords !== 'string') return JSON.stringify(aliasOrRecords);
  const names = Object.keys(columns).map((field) => [field, toSnakeCase(field)] as const);
  const rows = records.map((record) =>
    Object.fromEntries(names.map(([field, name]) => [name, (record as Record<string, unknown>)[field]])),
  );
  const definitions = names.map(([field, name]) => `${name} ${columns[field]}`).join(', ');
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as ${sql.raw(`${aliasOrRecords}(${definitions})`)}`;
}

const toSnakeCase = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
