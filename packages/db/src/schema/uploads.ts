import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant, wordList } from './columns.ts';

export const STORAGES = ['blob', 'base64'] as const;

/** `url` is the storage URL, or the data URL itself. */
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
    // For lists, newest first.
    index('uploads_by_age').on(t.userId, t.uploadedAt, t.id),
    // A data URL is megabytes long, so it is found by its hash.
    index('uploads_by_url').on(sql`md5(${t.url})`),
    uniqueIndex('uploads_storage_key').on(t.storageKey),
    check('uploads_size', sql`${t.size} >= 0`),
    check('uploads_storage', sql`${t.storage} in (${wordList(STORAGES)})`),
    check('uploads_key_of_blob', sql`(${t.storage} = 'blob') = (${t.storageKey} is not null)`),
  ],
);

/** The totals of each user. An upload locks the row while it checks the storage quota. */
export const uploadTotals = pgTable(
  'upload_totals',
  {
    userId: integer('user_id')
      .primaryKey()
      .references(() => users.id, { onDelete: 'cascade' }),
    bytes: bigint({ mode: 'number' }).notNull().default(0),
    files: integer().notNull().default(0),
  },
  (t) => [check('upload_totals_not_negative', sql`${t.bytes} >= 0 and ${t.files} >= 0`)],
);

/**
 * Objects in the file storage without an upload: those being uploaded, with a `userId`, and those of deleted uploads. Each is
 * deleted after `deleteAfter`, also when the uploading process died.
 */
export const orphanedObjects = pgTable(
  'orphaned_objects',
  {
    key: text().primaryKey(),
    userId: integer('user_id').references(() => users.id, { onDelete: 'set null' }),
    deleteAfter: instant('delete_after').notNull(),
  },
  (t) => [
    index('orphaned_objects_due').on(t.deleteAfter),
    index('orphaned_objects_of_user').on(t.userId).where(sql`${t.userId} is not null`),
  ],
);
