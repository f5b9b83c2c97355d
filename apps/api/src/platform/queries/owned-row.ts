import { type Db, preparedQuery } from '@carillon/db';
import { and, eq, type GetColumnData, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Caller, Context } from '../../context.ts';

type Fields = Record<string, PgColumn>;
type Row<F extends Fields> = { [K in keyof F]: GetColumnData<F[K]> };

interface OwnedRow<F extends Fields = Fields> {
  query: (db: Db) => { execute(values: { id: number; userId: number }): Promise<Row<F>[]> };
}

export function ownedRow<F extends Fields>(
  table: PgTable & { id: PgColumn; userId: PgColumn },
  fields: F,
): OwnedRow<F> {
  const query = preparedQuery(
    (db) =>
      db
        .select(fields)
        .from(table)
        .where(and(eq(table.id, sql.placeholder('id')), eq(table.userId, sql.placeholder('userId'))))
        .prepare('owned_row'),
    { connection: 'shared' },
  );
  return { query };
}

/** Returns null also for the row of another user. */
export async function findOwnedRow<F extends Fields>(
  ctx: Context,
  caller: Caller,
  { query }: OwnedRow<F>,
  id: number,
): Promise<Row<F> | null> {
  const [row] = await query(ctx.db).execute({ id, userId: caller.id });
  return row ?? null;
}
