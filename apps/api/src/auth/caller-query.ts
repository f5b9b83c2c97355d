import { type Db, preparedQuery, rateWindows, sessions, settings, users } from '@carillon/db';
import { and, eq, gt, lte, sql } from 'drizzle-orm';
import { counted, firstOfWindow, isCounted, oneMore } from '../limits/windows.ts';
import type { OwnedRows } from '../queries/owned-row.ts';

/** The statement of `findCaller`: session, user, hit and maintenance mode in one. */
export const callerQuery = preparedQuery((db) => withoutRow(db).prepare('find_caller'), { connection: 'shared' });

/** The same, and with it the row `rowId` of those of the user. Prepared once for each kind of rows. */
export function callerAndRowQuery(rows: OwnedRows) {
  const query = queries.get(rows) ?? prepareWith(rows);
  queries.set(rows, query);
  return query;
}

const queries = new Map<OwnedRows, ReturnType<typeof prepareWith>>();

const prepareWith = ({ table, fields }: OwnedRows) =>
  preparedQuery(
    (db) => {
      const { found, hit, mode, all } = parts(db);
      const row = db.$with('row').as(
        db
          .select(fields)
          .from(table)
          .innerJoin(found, eq(table.userId, found.id))
          .where(eq(table.id, sql.placeholder('rowId'))),
      );
      return db
        .with(...all, row)
        .select()
        .from(found)
        .leftJoin(hit, sql`true`)
        .leftJoin(row, sql`true`)
        .innerJoin(mode, sql`true`)
        .prepare('find_caller_and_row');
    },
    { connection: 'shared' },
  );

function withoutRow(db: Db) {
  const { found, hit, mode, all } = parts(db);
  return db
    .with(...all)
    .select()
    .from(found)
    .leftJoin(hit, sql`true`)
    .innerJoin(mode, sql`true`);
}

function parts(db: Db) {
  const now = sql<Date>`${sql.placeholder('now')}::timestamptz`;
  const found = db.$with('found').as(
    db
      .select({
        id: users.id,
        email: users.email,
        name: users.name,
        role: users.role,
        plan: users.plan,
        timezone: users.timezone,
        trialEndsAt: users.trialEndsAt,
        createdAt: users.createdAt,
        sessionId: sql<string>`${sessions.id}`.as('session_id'),
      })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(
        and(
          eq(sessions.id, sql.placeholder('sessionId')),
          eq(sessions.userId, sql.placeholder('userId')),
          gt(sessions.expiresAt, now),
          eq(users.isActive, true),
        ),
      ),
  );
  const stale = lte(sessions.lastUsedAt, sql`${sql.placeholder('staleAt')}::timestamptz`);
  const touched = db.$with('touched').as(
    db
      .update(sessions)
      .set({ lastUsedAt: now })
      .from(found)
      .where(and(eq(sessions.id, found.sessionId), stale))
      .returning({ id: sessions.id }),
  );
  const hit = db.$with('hit').as(
    db
      .insert(rateWindows)
      .select((query) => query.select(firstOfWindow).from(found).where(isCounted))
      .onConflictDoUpdate(oneMore)
      .returning(counted),
  );
  const mode = db.$with('mode').as(db.select({ maintenance: settings.maintenanceMode }).from(settings));
  return { found, hit, mode, all: [found, touched, hit, mode] };
}
