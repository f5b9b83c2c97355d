import { date, index, integer, pgTable, primaryKey, text } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant } from './columns.ts';

/** Rate-limit windows. The table is UNLOGGED: counters live a day at most, and may be lost when the database crashes. */
export const rateWindows = pgTable(
  'rate_windows',
  {
    key: text().primaryKey(),
    count: integer().notNull(),
    endsAt: instant('ends_at').notNull(),
  },
  (t) => [index('rate_windows_end').on(t.endsAt)],
);

export const rateHits = pgTable(
  'rate_hits',
  {
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    day: date({ mode: 'string' }).notNull(),
    endpoint: text().notNull(),
    hits: integer().notNull(),
    lastHit: instant('last_hit').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.day, t.endpoint] })],
);
