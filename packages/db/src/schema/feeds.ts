import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { apiKeys, users } from './accounts.ts';
import { instant } from './columns.ts';
import { tasks } from './tasks.ts';

/** The address of a feed has a secret, of which only the hash is stored. */
export const feeds = pgTable(
  'feeds',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** Null for the feed of the account. */
    taskId: integer('task_id').references(() => tasks.id, { onDelete: 'cascade' }),
    /** The API key that made it, and that it ends with; null if a session did. */
    keyId: uuid('key_id').references(() => apiKeys.id, { onDelete: 'cascade' }),
    secretHash: text('secret_hash').notNull().unique(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    index('feeds_key').on(t.keyId),
    uniqueIndex('feeds_one_of_task').on(t.taskId),
    uniqueIndex('feeds_one_of_account').on(t.userId).where(sql`${t.taskId} is null`),
  ],
);
