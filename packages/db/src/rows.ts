import type { SQL } from 'drizzle-orm';
import type { Db } from './client.ts';

/**
 * Runs a statement that the query builder cannot say. `T` is what its select list or RETURNING yields; instants come
 * as text (`toInstant` reads them), numbers wider than 32 bits too unless the statement casts them.
 */
export async function queryRows<T>(db: Db, statement: SQL): Promise<T[]> {
  return (await db.execute(statement)) as unknown as T[];
}

/** An instant as PostgreSQL writes it. */
export const toInstant = (text: string): Date => new Date(text);

/** As `toInstant`, null for null. */
export const toInstantOrNull = (text: string | null): Date | null => (text === null ? null : new Date(text));

/** A list of records as one parameter, for `jsonb_to_recordset`: one statement writes them all. */
export const recordset = (records: readonly object[]): string => JSON.stringify(records);

/** @deprecated The former name of `queryRows`. */
export const rows = queryRows;
