import { type Db, preparedQuery, users } from '@carillon/db';
import type { TInteger } from '@sinclair/typebox';
import { and, eq, lt, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Caller, Context } from '../context.ts';
import { fromReplica } from './from-replica.ts';
import { decodeIdCursor, type PageQuery, readCursorPage, readIdCursor, splitPage } from './pages.ts';

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
  /** The schema of `limit` in the contract. */
  limit: TInteger;
  /** From the counters in `users`. */
  total: SQL<number> | PgColumn;
  select: (db: Db, parts: SelectParts) => SelectQuery<R>;
}

/** A page that was read while the session of the request was looked up. */
export interface PageAhead<R> {
  limit: number;
  before: number | null;
  rows: RowWithTotal<R>[];
}

interface ListOptions<R> {
  filter?: SQL | undefined;
  ahead?: Promise<PageAhead<R>> | null;
}

/** Reads pages without filter and offset in one prepared statement, total included. */
export function ownedList<R extends { id: number }>({ table, limit, total, select }: List<R>) {
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
  const readPageAhead = fromReplica(readPage);

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
    { filter, ahead = null }: ListOptions<R> = {},
  ) {
    const { db } = ctx;
    const before = decodeIdCursor(query.cursor);
    if (filter === undefined && (before !== null || query.offset === 0)) {
      const { limit } = query;
      const known = await ahead;
      const isSame = known?.limit === limit && known.before === before;
      const rows = isSame ? known.rows : await readPage(ctx, userId, { limit, before });
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

  /** By the unchecked query of a request; returns null for all but pages without filter and offset. */
  function readAhead(ctx: Context, userId: number, query: unknown): Promise<PageAhead<R>> | null {
    const asked = readPlainQuery(query, limit);
    return asked && readPageAhead(ctx, userId, asked).then((rows) => ({ ...asked, rows }));
  }

  return { list, readAhead };
}

function readPlainQuery(
  query: unknown,
  { default: defaultLimit, maximum = 0 }: TInteger,
): { limit: number; before: number | null } | null {
  const { limit: given = String(defaultLimit), cursor, ...others } = query as Record<string, unknown>;
  const limit = typeof given === 'string' && /^[1-9]\d*$/.test(given) ? Number(given) : Number.NaN;
  if (!(limit <= maximum) || Object.keys(others).length > 0) return null;
  if (cursor === undefined) return { limit, before: null };
  const before = typeof cursor === 'string' ? readIdCursor(cursor) : null;
  return before === null ? null : { limit, before };
}
