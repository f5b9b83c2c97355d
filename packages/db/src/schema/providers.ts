import { sql } from 'drizzle-orm';
import { check, integer, pgTable, primaryKey, text, unique, uuid } from 'drizzle-orm/pg-core';
import { instant, wordList } from './columns.ts';

export const PROVIDER_KINDS = ['openai', 'anthropic'] as const;

/** Those of the settings; those of the environment have no row. */
export const providers = pgTable(
  'providers',
  {
    id: uuid().primaryKey(),
    /** Models are `<name>/<model>`. */
    name: text().notNull(),
    kind: text({ enum: PROVIDER_KINDS }).notNull(),
    baseUrl: text('base_url').notNull(),
    apiKeyEncrypted: text('api_key_encrypted'),
    /** Calls at once, over all processes; null for no limit. */
    maxConcurrent: integer('max_concurrent'),
    /** The user whose run was started last, if there is a limit: the turn goes on after that one. */
    lastUserId: integer('last_user_id').notNull().default(0),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (t) => [
    unique('providers_name').on(t.name),
    check('providers_kind', sql`${t.kind} in (${wordList(PROVIDER_KINDS)})`),
    check('providers_max_concurrent', sql`${t.maxConcurrent} between 1 and 1000`),
  ],
);

/** Models in use that were in the list of their provider. */
export const listedModels = pgTable(
  'listed_models',
  {
    provider: text().notNull(),
    /** As the provider names it. */
    model: text().notNull(),
    listedAt: instant('listed_at').notNull(),
    /** When its end was reported; null while it is listed without an end. */
    warnedAt: instant('warned_at'),
    /** When it ends, as the provider says; null if it is gone from the list, or nothing is known. */
    endsAt: instant('ends_at'),
  },
  (t) => [primaryKey({ columns: [t.provider, t.model] })],
);
