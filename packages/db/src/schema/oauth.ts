import { sql } from 'drizzle-orm';
import { check, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { apiKeys, users } from './accounts.ts';
import { instant, wordList } from './columns.ts';

export const OAUTH_TOKEN_KINDS = ['code', 'access', 'refresh'] as const;

/** Codes and tokens of assistants. */
export const oauthTokens = pgTable(
  'oauth_tokens',
  {
    /** SHA-256. */
    tokenHash: text('token_hash').primaryKey(),
    kind: text({ enum: OAUTH_TOKEN_KINDS }).notNull(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    clientId: text('client_id').notNull(),
    /** The connection: for a code, the one that its exchange makes. */
    grantId: uuid('grant_id').notNull(),
    /** The connection that exists; null for a code before its exchange. */
    keyId: uuid('key_id').references(() => apiKeys.id, { onDelete: 'cascade' }),
    /** What the library keeps, without the token. */
    payload: jsonb().$type<Record<string, unknown>>().notNull(),
    expiresAt: instant('expires_at').notNull(),
    /** When a code was exchanged, or a refresh token first replaced. */
    consumedAt: instant('consumed_at'),
  },
  (t) => [
    index('oauth_tokens_user').on(t.userId),
    index('oauth_tokens_key').on(t.keyId),
    index('oauth_tokens_expiry').on(t.expiresAt),
    check('oauth_tokens_kind', sql`${t.kind} in (${wordList(OAUTH_TOKEN_KINDS)})`),
    check('oauth_tokens_connection', sql`${t.kind} = 'code' or ${t.keyId} is not null`),
  ],
);

/** Programs that were allowed once, or whose document was fetched. */
export const oauthClients = pgTable('oauth_clients', {
  /** The address of its document, or the signed id of a registration. */
  id: text().primaryKey(),
  name: text().notNull(),
  host: text().notNull(),
  /** The last good copy of the document at its address; null for a registration and for a copy of ours. */
  document: jsonb().$type<Record<string, unknown>>(),
  fetchedAt: instant('fetched_at'),
  /** When it was last allowed. */
  seenAt: instant('seen_at').notNull(),
  /** When an administrator blocked it. */
  blockedAt: instant('blocked_at'),
});
