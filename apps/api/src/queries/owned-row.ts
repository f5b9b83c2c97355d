import { type Db, preparedQuery } from '@carillon/db';
import { and, eq, type GetColumnData, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Caller, Context } from '../context.ts';

type Fields = Record<string, PgColumn>;
type Row<F extends Fields> = { [K in keyof F]: GetColumnData<F[K]> };

/** Rows that belong to one user each and are found by their id: a table, and what is read of it. */
export interface OwnedRows<F extends Fields = Fields> {
  table: PgTable & { id: PgColumn; userId: PgColumn };
  fields: F;
  query: (db: Db) => { execute(values: { id: number; userId: number }): Promise<Row<F>[]> };
  /** What was read for a caller beforehand, until somebody asks for it. */
  readAhead: WeakMap<Caller, { id: number; row: Row<F> | null }>;
}

/** Describes such rows. The first of `fields` is never null: by that, a row that is missing is told from one that is there. */
export function ownedRows<F extends Fields>(table: OwnedRows['table'], fields: F): OwnedRows<F> {
  const query = preparedQuery(
    (db) =>
      db
        .select(fields)
        .from(table)
        .where(and(eq(table.id, sql.placeholder('id')), eq(table.userId, sql.placeholder('userId'))))
        .prepare('own_row'),
    { connection: 'shared' },
  );
  return { table, fields, query, readAhead: new WeakMap() };
}

/**
 * The row `id` of the caller's, or null; another user's is not found either (decisions §4). Where the statement that
 * found the caller has read it already, it is not read again, but for the second time it is asked for.
 */
export async function findOwnedRow<F extends Fields>(
  ctx: Context,
  caller: Caller,
  rows: OwnedRows<F>,
  id: number,
): Promise<Row<F> | null> {
  const ahead = rows.readAhead.get(caller);
  if (ahead?.id === id && rows.readAhead.delete(caller)) return ahead.row;
  const [row] = await rows.query(ctx.db).execute({ id, userId: caller.id });
  return row ?? null;
}

/** Whether the text is an id that a row can have: a positive integer of 32 bits. */
export const isRowId = (text: string | undefined): text is string =>
  text !== undefined && /^[1-9]\d{0,9}$/.test(text) && Number(text) <= 2 ** 31 - 1;
