import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  boolean,
  check,
  index,
  integer,
  json,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { alerts } from './alerts.ts';
import { instant, revision, wordList } from './columns.ts';
import { tasks } from './tasks.ts';

export const WEBHOOK_STATUSES = ['active', 'inactive', 'failed'] as const;
/** A subscription of its owner, the `webhookUrl` of a task or of the account's settings, or a channel. */
export const WEBHOOK_PURPOSES = ['subscription', 'task', 'account', 'channel'] as const;
export const CHANNEL_KINDS = [
  'slack',
  'mattermost',
  'teams',
  'discord',
  'telegram',
  'ntfy',
  'apprise',
  'email',
] as const;
export const DIGESTS = ['off', 'hourly', 'daily'] as const;
export const DELIVERY_STATUSES = ['pending', 'sending', 'delivered', 'failed', 'held', 'digested'] as const;

export type ChannelKind = (typeof CHANNEL_KINDS)[number];

/** Local times such as `22:00`, when a channel sends nothing. */
export interface QuietHours {
  from: string;
  to: string;
  timezone: string;
}

/** The settings of a channel that are no secret. */
export type ShownSettings = Record<string, string | string[]>;

/**
 * Where deliveries go: webhooks and channels. `secretLookup` is a blind index, by which a secret in a path is found. A
 * channel has all its settings as JSON in `secretEncrypted`; its `url` has no secret.
 */
export const endpoints = pgTable(
  'endpoints',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    purpose: text({ enum: WEBHOOK_PURPOSES }).notNull().default('subscription'),
    /** The task whose `webhookUrl` it is, and the only one whose events it receives. */
    taskId: integer('task_id').references(() => tasks.id, { onDelete: 'cascade' }),
    url: text().notNull(),
    secretEncrypted: text('secret_encrypted').notNull(),
    secretLookup: text('secret_lookup').notNull().unique(),
    previousSecretEncrypted: text('previous_secret_encrypted'),
    previousSecretUntil: instant('previous_secret_until'),
    events: text().array().notNull(),
    description: text(),
    status: text({ enum: WEBHOOK_STATUSES }).notNull().default('active'),
    /** Whether its latest attempt succeeded; null before the first. Responsive webhooks get more concurrent attempts. */
    lastAttemptOk: boolean('last_attempt_ok'),
    windowEndsAt: instant('window_ends_at'),
    windowCount: integer('window_count').notNull().default(0),
    kind: text({ enum: ['webhook', ...CHANNEL_KINDS] })
      .notNull()
      .default('webhook'),
    // What follows is of channels.
    name: text(),
    shownSettings: json('shown_settings').$type<ShownSettings>(),
    /** Whether it gets the notifications of the account. */
    isForAccount: boolean('is_for_account').notNull().default(false),
    quiet: json().$type<QuietHours>(),
    /** Whether alerts are sent in quiet hours and between digests. */
    urgent: boolean().notNull().default(false),
    minIntervalMinutes: integer('min_interval_minutes'),
    digest: text({ enum: DIGESTS }).notNull().default('off'),
    digestHour: integer('digest_hour'),
    digestTimezone: text('digest_timezone'),
    lastSentAt: instant('last_sent_at'),
    unsubscribeHash: text('unsubscribe_hash').unique(),
    revision: revision(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (t) => [
    index('endpoints_of_user').on(t.userId, t.createdAt, t.id),
    uniqueIndex('endpoints_one_of_task').on(t.taskId),
    uniqueIndex('endpoints_one_of_account').on(t.userId).where(sql`${t.purpose} = 'account'`),
    check('endpoints_kind', sql`${t.kind} in ('webhook', ${wordList(CHANNEL_KINDS)})`),
    check('endpoints_channel', sql`(${t.purpose} = 'channel') = (${t.kind} <> 'webhook')`),
    check('endpoints_digest', sql`${t.digest} in (${wordList(DIGESTS)})`),
    check('endpoints_purpose', sql`${t.purpose} in (${wordList(WEBHOOK_PURPOSES)})`),
    check('endpoints_task', sql`(${t.purpose} = 'task') = (${t.taskId} is not null)`),
    check('endpoints_status', sql`${t.status} in (${wordList(WEBHOOK_STATUSES)})`),
  ],
);

/**
 * The outbox. A pending row is waiting (`queuedAt` is null: a retry before its `nextAttemptAt`) or queued. A held row waits
 * for its channel: at `nextAttemptAt` it is queued, or digested if there are several: the delivery `digestId` has all of them.
 */
export const deliveries = pgTable(
  'deliveries',
  {
    id: uuid().primaryKey(),
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => endpoints.id, { onDelete: 'cascade' }),
    event: text().notNull(),
    payload: text().notNull(),
    requestId: text('request_id').notNull(),
    status: text({ enum: DELIVERY_STATUSES }).notNull().default('pending'),
    attempt: integer().notNull().default(0),
    nextAttemptAt: instant('next_attempt_at'),
    queuedAt: instant('queued_at'),
    previousAttemptAt: instant('previous_attempt_at'),
    claimToken: uuid('claim_token'),
    leaseUntil: instant('lease_until'),
    createdAt: instant('created_at').notNull(),
    endedAt: instant('ended_at'),
    alertId: integer('alert_id').references(() => alerts.id, { onDelete: 'set null' }),
    digestId: uuid('digest_id').references((): AnyPgColumn => deliveries.id, { onDelete: 'cascade' }),
  },
  (t) => [
    // Retries first, because they have a planned instant.
    index('deliveries_queued')
      .on(t.webhookId, t.attempt.desc(), t.nextAttemptAt)
      .where(sql`${t.status} = 'pending' and ${t.queuedAt} is not null`),
    index('deliveries_waiting').on(t.nextAttemptAt).where(sql`${t.status} = 'pending' and ${t.queuedAt} is null`),
    index('deliveries_failed').on(t.endedAt).where(sql`${t.status} = 'failed'`),
    index('deliveries_sending').on(t.webhookId, t.leaseUntil).where(sql`${t.status} = 'sending'`),
    index('deliveries_of_webhook').on(t.webhookId, t.createdAt),
    index('deliveries_of_alert').on(t.alertId).where(sql`${t.alertId} is not null`),
    check('deliveries_status', sql`${t.status} in (${wordList(DELIVERY_STATUSES)})`),
    index('deliveries_held').on(t.nextAttemptAt).where(sql`${t.status} = 'held'`),
    index('deliveries_of_digest').on(t.digestId).where(sql`${t.digestId} is not null`),
    check(
      'deliveries_next_while_pending',
      sql`(${t.status} in ('pending', 'held')) = (${t.nextAttemptAt} is not null)`,
    ),
    check('deliveries_lease_while_sending', sql`(${t.status} = 'sending') = (${t.claimToken} is not null)`),
    check('deliveries_queued_while_pending', sql`${t.queuedAt} is null or ${t.status} = 'pending'`),
    check('deliveries_ended', sql`(${t.status} in ('delivered', 'failed', 'digested')) = (${t.endedAt} is not null)`),
  ],
);

export const deliveryAttempts = pgTable(
  'delivery_attempts',
  {
    id: uuid().primaryKey(),
    deliveryId: uuid('delivery_id')
      .notNull()
      .references(() => deliveries.id, { onDelete: 'cascade' }),
    webhookId: uuid('webhook_id')
      .notNull()
      .references(() => endpoints.id, { onDelete: 'cascade' }),
    event: text().notNull(),
    url: text().notNull(),
    attempt: integer().notNull(),
    success: boolean().notNull(),
    statusCode: integer('status_code'),
    error: text(),
    responseTimeMs: integer('response_time_ms').notNull(),
    attemptedAt: instant('attempted_at').notNull(),
  },
  (t) => [
    index('delivery_attempts_of_webhook').on(t.webhookId, t.attemptedAt),
    index('delivery_attempts_of_delivery').on(t.deliveryId),
  ],
);
