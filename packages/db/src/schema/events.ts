import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant } from './columns.ts';

/**
 * The id of the latest event of each user. Recording locks the row until the commit, so the ids of a user have no gaps and
 * become visible in their order.
 */
export const eventPositions = pgTable('event_positions', {
  userId: integer('user_id')
    .primaryKey()
    .references(() => users.id, { onDelete: 'cascade' }),
  lastId: bigint('last_id', { mode: 'number' }).notNull(),
});

/**
 * The event log. Without foreign keys, because each costs a look-up per row: deleting an account deletes its events.
 * Events with the same data share a row, with the id of the last one.
 */
export const events = pgTable(
  'events',
  {
    userId: integer('user_id').notNull(),
    id: bigint({ mode: 'number' }).notNull(),
    kinds: text().array().notNull(),
    taskId: integer('task_id'),
    /** JSON, as in the payload of a delivery. */
    data: text().notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.id] })],
);

/**
 * Open live streams, each leased by the process that serves it, which checks that its session or key still exists. The table is
 * UNLOGGED: streams do not survive a crash of the database.
 */
export const eventStreams = pgTable(
  'event_streams',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    sessionId: uuid('session_id'),
    apiKeyId: uuid('api_key_id'),
    leaseUntil: instant('lease_until').notNull(),
  },
  (t) => [
    index('event_streams_of_user').on(t.userId),
    check('event_streams_caller', sql`num_nonnulls(${t.sessionId}, ${t.apiKeyId}) = 1`),
  ],
);
