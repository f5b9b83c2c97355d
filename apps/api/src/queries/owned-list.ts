import { type Db, preparedQuery, users } from '@carillon/db';
import { and, eq, lt, type Placeholder, type SQL, sql } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Caller, Context } from '../context.ts';
import { decodeIdCursor, splitPage } from './cursor.ts';

interface Listed<R> {
  row: R;
  total: number | null;
}

interface Select<R> extends PromiseLike<Listed<R>[]> {
  prepare(name: string): { execute(values: Record<string, unknown>): Promise<Listed<R>[]> };
}

interface Part {
  /** What each row has beside it. */
  total: SQL<number | null>;
  condition: SQL | undefined;
  limit: number | Placeholder;
  offset: number;
}

interface List<R> {
  table: PgTable & { id: PgColumn; userId: PgColumn };
  /** How many rows a user has, as a column of `users`. */
  total: SQL<number> | PgColumn;
  /** The rows, the highest id first. */
  select: (db: Db, part: Part) => Select<R>;
}

interface Asked {
  limit: number;
  offset: number;
  cursor?: string;
}

/**
 * A list of rows that belong to one user each, newest first (decisions §5). A page asked for by `cursor` costs the same
 * at any depth, and has no `total`: counting what `filter` picks would cost as much as there is. What is asked for most,
 * pages of all there are, takes one statement, which is built once.
 */
export function ownedList<R extends { id: number }>({ table, total, select }: List<R>) {
  const none = sql<null>`null`;
  const userId = sql.placeholder('userId');
  const all = { limit: sql.placeholder('limit'), offset: 0 };
  const first = preparedQuery((db) =>
    select(db, {
      total: sql<number>`(select ${total} from ${users} where ${users.id} = ${userId})`,
      condition: eq(table.userId, userId),
      ...all,
    }).prepare('first_page'),
  );
  const next = preparedQuery((db) =>
    select(db, {
      total: none,
      condition: and(eq(table.userId, userId), lt(table.id, sql.placeholder('before'))),
      ...all,
    }).prepare('next_page'),
  );

  async function count(db: Db, userId: number, filter: SQL | undefined) {
    if (filter) return db.$count(table, and(eq(table.userId, userId), filter));
    const [user] = await db
      .select({ total: sql<number>`${total}` })
      .from(users)
      .where(eq(users.id, userId));
    return user?.total ?? 0;
  }

  return async ({ db }: Context, { id: userId }: Caller, { limit, cursor, ...asked }: Asked, filter?: SQL) => {
    const before = decodeIdCursor(cursor);
    const offset = before === null ? asked.offset : 0;
    const split = (found: Listed<R>[], total: number | null) => {
      const rows = found.map(({ row }) => row);
      const { page, hasMore, nextCursor } = splitPage(rows, limit, (row) => row.id);
      return { page, pagination: { total, limit, offset, hasMore, nextCursor } };
    };
    if (filter === undefined && offset === 0) {
      const found = await (before === null ? first : next)(db).execute({ userId, before, limit: limit + 1 });
      return split(found, before === null ? (found[0]?.total ?? 0) : null);
    }
    const condition = and(eq(table.userId, userId), filter, before === null ? undefined : lt(table.id, before));
    const [found, counted] = await Promise.all([
      select(db, { total: none, condition, limit: limit + 1, offset }),
      before === null ? count(db, userId, filter) : null,
    ]);
    return split(found, counted);
  };
}
