import { type Db, preparedQuery, users } from '@carillon/db';
import { and, eq, lt, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Caller, Context } from '../../context.ts';
import { decodeIdCursor, type PageQuery, readCursorPage, splitPage } from './pages.ts';

interface RowWithTotal<R> {
  row: R;
  total: number | null;
}

interface SelectQuery<R> extends PromiseLike<RowWithTotal<R>[]> {
  prepare(name: string): { execute(values: Record<string, unknown>): Promise<RowWithTotal<R>[]> };
}

interface SelectParts {
  total: SQL<number | null>;
  condition: SQL | undefined;
  limit: number | Placeholder;
  offset: number;
}

interface List<R> {
  table: PgTable & { id: PgColumn; userId: PgColumn };
  /** From the counters in `users`. */
  total: SQL<number> | PgColumn;
  select: (db: Db, parts: SelectParts) => SelectQuery<R>;
}

/** Reads pages without filter and offset in one prepared statement, total included. */
export function ownedList<R extends { id: number }>({ table, total, select }: List<R>) {
  const noTotal = sql<null>`null`;
  const userId = sql.placeholder('userId');
  const parts = { limit: sql.placeholder('limit'), offset: 0 };
  const firstPage = preparedQuery((db) =>
    select(db, {
      total: sql<number>`(select ${total} from ${users} where ${users.id} = ${userId})`,
      condition: eq(table.userId, userId),
      ...parts,
    }).prepare('first_page'),
  );
  const nextPage = preparedQuery((db) =>
    select(db, {
      total: noTotal,
      condition: and(eq(table.userId, userId), lt(table.id, sql.placeholder('before'))),
      ...parts,
    }).prepare('next_page'),
  );

  async function readPage(
    { db }: Context,
    userId: number,
    { limit, before }: { limit: number; before: number | null },
  ) {
    return (before === null ? firstPage : nextPage)(db).execute({ userId, before, limit: limit + 1 });
  }

  async function count(db: Db, userId: number, filter: SQL | undefined): Promise<number> {
    if (filter) return db.$count(table, and(eq(table.userId, userId), filter));
    const [user] = await db
      .select({ total: sql<number>`${total}` })
      .from(users)
      .where(eq(users.id, userId));
    return user?.total ?? 0;
  }

  async function list(
    ctx: Context,
    { id: userId }: Caller,
    query: PageQuery,
    { filter }: { filter?: SQL | undefined } = {},
  ) {
    const { db } = ctx;
    const before = decodeIdCursor(query.cursor);
    if (filter === undefined && (before !== null || query.offset === 0)) {
      const { limit } = query;
      const rows = await readPage(ctx, userId, { limit, before });
      const { page, hasMore, nextCursor } = splitPage(rows, limit, ({ row }) => row.id);
      const total = before === null ? (rows[0]?.total ?? 0) : null;
      return { page: page.map(({ row }) => row), pagination: { total, limit, offset: 0, hasMore, nextCursor } };
    }
    return readCursorPage(
      query,
      async ({ before, limit, offset }) => {
        const condition = and(eq(table.userId, userId), filter, before === null ? undefined : lt(table.id, before));
        const rows = await select(db, { total: noTotal, condition, limit, offset });
        return rows.map(({ row }) => row);
      },
      () => count(db, userId, filter),
    );
  }

  return { list };
}
