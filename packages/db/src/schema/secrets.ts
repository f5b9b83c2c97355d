import { integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant } from './columns.ts';

/** Headers for sources of tasks, which name them. */
export const secrets = pgTable(
  'secrets',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** With the port, if the owner gave one. */
    host: text().notNull(),
    header: text().notNull(),
    valueEncrypted: text('value_encrypted').notNull(),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at'),
  },
  (t) => [unique('secrets_name').on(t.userId, t.name)],
);
