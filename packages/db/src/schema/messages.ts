import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { alerts } from './alerts.ts';
import { instant, wordList } from './columns.ts';

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
    /** Of the page that shows more, such as `/executions/7`; null for those from before it was stored. */
    path: text(),
    readAt: instant('read_at'),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    index('notifications_of_user').on(t.userId, t.id),
    index('notifications_unread').on(t.userId, t.id).where(sql`${t.readAt} is null`),
  ],
);

export const MAIL_KINDS = ['message', 'password_reset'] as const;

/**
 * The mail queue. The body of a `message` is encrypted, and deleted once it is sent. A `password_reset` is queued for any
 * requested address: account, token and body are looked up when it is sent, so that the request takes the same time for
 * unknown addresses, and no link is stored.
 */
export const mails = pgTable(
  'mails',
  {
    id: uuid().primaryKey(),
    kind: text({ enum: MAIL_KINDS }).notNull().default('message'),
    userId: integer('user_id').references(() => users.id, { onDelete: 'cascade' }),
    recipient: text().notNull(),
    subject: text().notNull(),
    bodyEncrypted: text('body_encrypted'),
    /** Increased by each claim, so that a sender detects that it lost the mail to another. */
    attempt: integer().notNull().default(0),
    /** Null once the mail was sent or has failed for good. */
    nextAttemptAt: instant('next_attempt_at'),
    leaseUntil: instant('lease_until'),
    sentAt: instant('sent_at'),
    failedAt: instant('failed_at'),
    error: text(),
    alertId: integer('alert_id').references(() => alerts.id, { onDelete: 'set null' }),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    index('mails_due').on(t.nextAttemptAt).where(sql`${t.nextAttemptAt} is not null`),
    index('mails_reset').on(t.recipient, t.createdAt).where(sql`${t.kind} = 'password_reset'`),
    index('mails_of_user').on(t.userId, t.createdAt).where(sql`${t.userId} is not null`),
    index('mails_of_alert').on(t.alertId).where(sql`${t.alertId} is not null`),
    check('mails_kind', sql`${t.kind} in (${wordList(MAIL_KINDS)})`),
    check('mails_ended', sql`(${t.nextAttemptAt} is null) = (num_nonnulls(${t.sentAt}, ${t.failedAt}) = 1)`),
    check(
      'mails_body',
      sql`(${t.bodyEncrypted} is not null) = (${t.kind} = 'message' and ${t.nextAttemptAt} is not null)`,
    ),
  ],
);
