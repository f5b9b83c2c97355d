import { sql } from 'drizzle-orm';
import {
  bigint,
  boolean,
  check,
  date,
  doublePrecision,
  index,
  integer,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant, wordList } from './columns.ts';

export const USAGE_SOURCES = ['execution', 'fallback', 'outcome', 'interrupted', 'agent'] as const;

/**
 * Usage per user and UTC day (`2026-11-20`) or month (`2026-11`), locked by quota checks. `executions`, `tokens` and
 * `tokensReserved` always equal the sum of `usage_records`, pending and running executions, and `agent_calls`.
 */
export const usageCounters = pgTable(
  'usage_counters',
  {
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    period: text().notNull(),
    executions: integer().notNull().default(0),
    tokens: bigint({ mode: 'number' }).notNull().default(0),
    tokensReserved: bigint('tokens_reserved', { mode: 'number' }).notNull().default(0),
    costUsd: doublePrecision('cost_usd').notNull().default(0),
    /** Existing executions that ended so, by the day they started. Counting them would take a second. */
    completed: integer().notNull().default(0),
    failed: integer().notNull().default(0),
    /** Those of the failed ones that the user has stopped. */
    stopped: integer().notNull().default(0),
    /** Planned runs whose sources were unchanged, and what they would have cost. */
    savedRuns: integer('saved_runs').notNull().default(0),
    savedUsd: doublePrecision('saved_usd').notNull().default(0),
    /** The quotas that have refused a run in this period, of which the user was notified once. */
    noticed: text().array().notNull().default([]),
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.period] }),
    index('usage_counters_months').on(t.userId).where(sql`length(${t.period}) = 7`),
    index('usage_counters_days').on(t.period).where(sql`length(${t.period}) = 10`),
    check('usage_counters_not_negative', sql`${t.executions} >= 0 and ${t.tokens} >= 0 and ${t.tokensReserved} >= 0`),
  ],
);

/** The usage ledger: one row per call to a provider. Rows outlive their task. */
export const usageRecords = pgTable(
  'usage_records',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** May be deleted already. */
    executionId: integer('execution_id'),
    source: text({ enum: USAGE_SOURCES }).notNull(),
    day: date({ mode: 'string' }).notNull(),
    /** 1 if the call counts as an execution, 0 for every other call of it. */
    executions: integer().notNull(),
    model: text(),
    /** The name of the provider; null if it is not known. */
    provider: text(),
    inputTokens: integer('input_tokens').notNull(),
    outputTokens: integer('output_tokens').notNull(),
    estimated: boolean().notNull(),
    costUsd: doublePrecision('cost_usd').notNull(),
    toolUses: integer('tool_uses').notNull().default(0),
    /** The part of `costUsd` that is for tools; 0 if the provider reports one sum. */
    toolCostUsd: doublePrecision('tool_cost_usd').notNull().default(0),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    index('usage_records_of_user').on(t.userId, t.day),
    index('usage_records_of_execution').on(t.executionId),
    index('usage_records_with_tools').on(t.userId, t.day).where(sql`${t.toolUses} > 0`),
    check('usage_records_source', sql`${t.source} in (${wordList(USAGE_SOURCES)})`),
  ],
);

/**
 * Running calls of agent mode with their quota reservations. A call has a deadline, so an expired lease means that its
 * process died: an estimate is recorded as usage, and the reservation released.
 */
export const agentCalls = pgTable(
  'agent_calls',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    day: date({ mode: 'string' }).notNull(),
    model: text().notNull(),
    /** The provider, if it has a limit. */
    provider: text(),
    inputTokens: integer('input_tokens').notNull(),
    tokensReserved: integer('tokens_reserved').notNull(),
    leaseUntil: instant('lease_until').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [index('agent_calls_lease').on(t.leaseUntil), index('agent_calls_of_user').on(t.userId)],
);

/** A percentage of the monthly quotas at which the user is notified. */
export const usageAlerts = pgTable(
  'usage_alerts',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    threshold: integer().notNull(),
    notifyEmail: boolean('notify_email').notNull(),
    notifyWebhook: boolean('notify_webhook').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    unique('usage_alerts_threshold').on(t.userId, t.threshold),
    check('usage_alerts_percent', sql`${t.threshold} between 1 and 100`),
  ],
);

/** The primary key limits an alert to one notification per month and resource. */
export const usageAlertFirings = pgTable(
  'usage_alert_firings',
  {
    alertId: integer('alert_id')
      .notNull()
      .references(() => usageAlerts.id, { onDelete: 'cascade' }),
    period: text().notNull(),
    resource: text().notNull(),
    firedAt: instant('fired_at').notNull(),
  },
  (t) => [primaryKey({ columns: [t.alertId, t.period, t.resource] })],
);
