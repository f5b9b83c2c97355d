import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { instant, revision, wordList } from './columns.ts';

export const ROLES = ['USER', 'ADMIN'] as const;
export const PLANS = ['trial', 'pro'] as const;
export const LANGUAGES = ['en', 'pt-BR'] as const;

/** `passwordHash` is null for an account that only signs in through a provider. */
export const users = pgTable(
  'users',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    identityUserId: text('identity_user_id').notNull().unique(),
    email: text().notNull(),
    /** When ownership of the e-mail address was last verified; null if never. */
    emailVerifiedAt: instant('email_verified_at'),
    name: text().notNull(),
    passwordHash: text('password_hash'),
    role: text({ enum: ROLES }).notNull().default('USER'),
    plan: text({ enum: PLANS }).notNull().default('trial'),
    timezone: text(),
    language: text({ enum: LANGUAGES }).notNull().default('en'),
    isActive: boolean('is_active').notNull().default(true),
    trialEndsAt: instant('trial_ends_at'),
    providerKeyEncrypted: text('provider_key_encrypted'),
    notifyEmail: boolean('notify_email').notNull().default(true),
    notifyWebhook: boolean('notify_webhook').notNull().default(true),
    notificationEmails: text('notification_emails').array().notNull().default([]),
    notificationUrl: text('notification_url'),
    /** Maintained by triggers on `tasks`, because counting takes longer the more there are. */
    taskCount: integer('task_count').notNull().default(0),
    /** Every run with a smaller id has ended and was seen. */
    unseenFromId: integer('unseen_from_id').notNull().default(1),
    revision: revision(),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('users_email_key').on(sql`lower(${t.email})`),
    check('users_email_lower', sql`${t.email} = lower(${t.email})`),
    check('users_role', sql`${t.role} in (${wordList(ROLES)})`),
    check('users_language', sql`${t.language} in (${wordList(LANGUAGES)})`),
    check('users_plan', sql`${t.plan} in (${wordList(PLANS)})`),
  ],
);

export const sessions = pgTable(
  'sessions',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    userAgent: text('user_agent'),
    address: text(),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** When the password or a second factor was last given again; null if never. */
    confirmedAt: instant('confirmed_at'),
    /** When a second factor was last given, at the sign-in or later; null if never. */
    factorAt: instant('factor_at'),
  },
  (t) => [index('sessions_user').on(t.userId, t.createdAt), index('sessions_expiry').on(t.expiresAt)],
);

/**
 * Keys of programs, stored as SHA-256 only. They stay listed once they have expired. One with a client is the connection of
 * an assistant: its tokens are in `oauth_tokens`.
 */
export const apiKeys = pgTable(
  'api_keys',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    /** The first characters of the key, by which its owner recognises it. */
    prefix: text().notNull(),
    secretHash: text('secret_hash').unique(),
    scopes: text().array().notNull(),
    expiresAt: instant('expires_at'),
    lastUsedAt: instant('last_used_at'),
    createdAt: instant('created_at').notNull(),
    clientId: text('client_id'),
    /** The host of the address that the client returns to, its scheme, or `localhost`. */
    clientHost: text('client_host'),
  },
  (t) => [
    index('api_keys_user').on(t.userId, t.createdAt),
    uniqueIndex('api_keys_client').on(t.clientId, t.userId).where(sql`${t.clientId} is not null`),
    check(
      'api_keys_kind',
      sql`(${t.secretHash} is null) = (${t.clientId} is not null) and (${t.clientId} is null) = (${t.clientHost} is null)`,
    ),
  ],
);

/** Requests with a key in a UTC month (`2026-11`). */
export const apiKeyUsage = pgTable(
  'api_key_usage',
  {
    keyId: uuid('key_id')
      .notNull()
      .references(() => apiKeys.id, { onDelete: 'cascade' }),
    period: text().notNull(),
    requests: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.keyId, t.period] })],
);

export const identities = pgTable(
  'identities',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    provider: text().notNull(),
    subject: text().notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [unique('identities_subject').on(t.provider, t.subject), index('identities_user').on(t.userId)],
);

/** Password reset tokens, stored as SHA-256 only. */
export const passwordResets = pgTable(
  'password_resets',
  {
    tokenHash: text('token_hash').primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    usedAt: instant('used_at'),
  },
  (t) => [index('password_resets_user').on(t.userId)],
);

export const EMAIL_CHANGE_STEPS = ['approve', 'confirm'] as const;

/** The change of an e-mail address that waits until a mailed link is opened. A newer one replaces it. */
export const emailChanges = pgTable(
  'email_changes',
  {
    userId: integer('user_id')
      .primaryKey()
      .references(() => users.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    /** The link is in a mail to the present address (`approve`) or to the new one (`confirm`). */
    step: text({ enum: EMAIL_CHANGE_STEPS }).notNull(),
    /** SHA-256. */
    tokenHash: text('token_hash').notNull().unique(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [check('email_changes_step', sql`${t.step} in (${wordList(EMAIL_CHANGE_STEPS)})`)],
);

/** Addresses besides the account's own that a user has mail sent to. They get a link, and the rest once it is opened. */
export const notificationAddresses = pgTable(
  'notification_addresses',
  {
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    email: text().notNull(),
    /** SHA-256; null if no link was sent yet, or once the address is confirmed. */
    tokenHash: text('token_hash').unique(),
    expiresAt: instant('expires_at'),
    confirmedAt: instant('confirmed_at'),
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.email] }),
    check('notification_addresses_link', sql`(${t.tokenHash} is null) = (${t.expiresAt} is null)`),
    check('notification_addresses_confirmed', sql`${t.confirmedAt} is null or ${t.tokenHash} is null`),
  ],
);
