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
import { executions } from './executions.ts';

export const USAGE_SOURCES = ['execution', 'interrupted', 'agent'] as const;

/**
 * What each user has used in a UTC day (`2026-11-20`) and month (`2026-11`): the rows that the quotas lock.
 * `executions`, `tokens` and `tokensReserved` are always the sum of `usage_records`, of the executions that are still
 * pending or running, and of `agent_calls`.
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
    /** The executions that there are and that ended so, on the day they started: counting them would cost a second. */
    completed: integer().notNull().default(0),
    failed: integer().notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.userId, t.period] }),
    // What statistics read: all months of everybody, and the last days.
    index('usage_counters_months').on(t.userId).where(sql`length(${t.period}) = 7`),
    index('usage_counters_days').on(t.period).where(sql`length(${t.period}) = 10`),
    check('usage_counters_not_negative', sql`${t.executions} >= 0 and ${t.tokens} >= 0 and ${t.tokensReserved} >= 0`),
  ],
);

/** The usage ledger: one row for each call to a provider, kept when its task is deleted. */
export const usageRecords = pgTable(
  'usage_records',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    executionId: integer('execution_id').references(() => executions.id, { onDelete: 'set null' }),
    source: text({ enum: USAGE_SOURCES }).notNull(),
    day: date({ mode: 'string' }).notNull(),
    /** 1 where the call counts as an execution, 0 where it repeats one that was interrupted. */
    executions: integer().notNull(),
    model: text(),
    inputTokens: integer('input_tokens').notNull(),
    outputTokens: integer('output_tokens').notNull(),
    estimated: boolean().notNull(),
    costUsd: doublePrecision('cost_usd').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    index('usage_records_of_user').on(t.userId, t.day),
    index('usage_records_of_execution').on(t.executionId),
    check('usage_records_source', sql`${t.source} in (${wordList(USAGE_SOURCES)})`),
  ],
);

/**
 * Calls of agent mode that are under way, with what they hold of the quotas. A call has a deadline, so one whose lease
 * has ended belongs to a process that died: it is booked as an estimate, and what it reserved is given back.
 */
export const agentCalls = pgTable(
  'agent_calls',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The UTC day whose quotas it counts against. */
    day: date({ mode: 'string' }).notNull(),
    model: text().notNull(),
    /** The estimate of what is sent. */
    inputTokens: integer('input_tokens').notNull(),
    tokensReserved: integer('tokens_reserved').notNull(),
    leaseUntil: instant('lease_until').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [index('agent_calls_lease').on(t.leaseUntil), index('agent_calls_of_user').on(t.userId)],
);

/** A share of the monthly quotas, in percent, at which the user wants to be told. */
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

/** The primary key is what makes an alert fire once for each month and resource. */
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
