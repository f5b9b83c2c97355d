import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant, wordList } from './columns.ts';

export const STORAGES = ['blob', 'base64'] as const;

/** Specification "Uploaded file record". `url` is the storage URL, or the data URL itself. */
export const uploads = pgTable(
  'uploads',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    type: text().notNull(),
    size: integer().notNull(),
    storage: text({ enum: STORAGES }).notNull(),
    storageKey: text('storage_key'),
    url: text().notNull(),
    uploadedAt: instant('uploaded_at').notNull(),
  },
  (t) => [
    index('uploads_of_user').on(t.userId),
    // A data URL is megabytes long: looked up by its hash.
    index('uploads_url').on(t.userId, sql`md5(${t.url})`),
    check('uploads_size', sql`${t.size} >= 0`),
    check('uploads_storage', sql`${t.storage} in (${wordList(STORAGES)})`),
  ],
);
