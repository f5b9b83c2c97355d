import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant } from './columns.ts';

/** What the dashboard shows a user: a failed task, a failed webhook, a quota alert (decisions §9). */
export const notifications = pgTable(
  'notifications',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    kind: text().notNull(),
    title: text().notNull(),
    message: text().notNull(),
    readAt: instant('read_at'),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [index('notifications_of_user').on(t.userId, t.id)],
);

/** Mail waiting for the mail server. The body is sealed: it may carry a reset link. */
export const mails = pgTable(
  'mails',
  {
    id: uuid().primaryKey(),
    recipient: text().notNull(),
    subject: text().notNull(),
    bodySealed: text('body_sealed').notNull(),
    attempt: integer().notNull().default(0),
    nextAttemptAt: instant('next_attempt_at'),
    leaseUntil: instant('lease_until'),
    sentAt: instant('sent_at'),
    failedAt: instant('failed_at'),
    error: text(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [index('mails_due').on(t.nextAttemptAt).where(sql`${t.nextAttemptAt} is not null`)],
);
