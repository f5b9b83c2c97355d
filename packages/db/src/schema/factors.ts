import { sql } from 'drizzle-orm';
import { bigint, check, index, integer, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant, wordList } from './columns.ts';

export const FACTOR_KINDS = ['passkey', 'totp'] as const;

/** Second factors of sign-ins. */
export const factors = pgTable(
  'factors',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    kind: text({ enum: FACTOR_KINDS }).notNull(),
    name: text().notNull(),
    /** Of a `totp`, in base 32. */
    secretEncrypted: text('secret_encrypted'),
    /** Of a `passkey`, in base64url, as its public key. */
    credentialId: text('credential_id').unique(),
    publicKey: text('public_key'),
    transports: text().array().notNull().default([]),
    /** The last one used: the signature counter of a passkey, the time step of a code. Older ones are replays. */
    counter: bigint({ mode: 'number' }).notNull().default(0),
    createdAt: instant('created_at').notNull(),
    /** Null for a `totp` without a first code: sign-ins do not ask for it. */
    confirmedAt: instant('confirmed_at'),
    lastUsedAt: instant('last_used_at'),
  },
  (t) => [
    index('factors_user').on(t.userId, t.createdAt),
    check('factors_kind', sql`${t.kind} in (${wordList(FACTOR_KINDS)})`),
    check(
      'factors_secrets',
      sql`(${t.kind} = 'totp') = (${t.secretEncrypted} is not null) and (${t.kind} = 'passkey') = (${t.credentialId} is not null and ${t.publicKey} is not null)`,
    ),
  ],
);

/** Each is deleted when it is used. */
export const recoveryCodes = pgTable(
  'recovery_codes',
  {
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** SHA-256. */
    codeHash: text('code_hash').notNull(),
  },
  (t) => [primaryKey({ columns: [t.userId, t.codeHash] })],
);

/** Sign-ins that wait for their second factor. */
export const signInTickets = pgTable(
  'sign_in_tickets',
  {
    /** SHA-256. */
    tokenHash: text('token_hash').primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** Codes that were given, right ones too. */
    attempts: integer().notNull().default(0),
    /** The sign-in provider's account that the factor links; null for a sign-in that links none. */
    provider: text(),
    subject: text(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [
    index('sign_in_tickets_user').on(t.userId),
    index('sign_in_tickets_expiry').on(t.expiresAt),
    check('sign_in_tickets_link', sql`(${t.provider} is null) = (${t.subject} is null)`),
  ],
);

/** Challenges whose answer was accepted, until they expire: a second use is refused. Others are not stored. */
export const usedChallenges = pgTable(
  'used_challenges',
  {
    /** SHA-256. */
    challengeHash: text('challenge_hash').primaryKey(),
    expiresAt: instant('expires_at').notNull(),
  },
  (t) => [index('used_challenges_expiry').on(t.expiresAt)],
);
