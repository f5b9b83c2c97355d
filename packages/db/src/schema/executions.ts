import { sql } from 'drizzle-orm';
import {
  type AnyPgColumn,
  boolean,
  check,
  date,
  doublePrecision,
  index,
  integer,
  pgTable,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant, wordList } from './columns.ts';
import { tasks } from './tasks.ts';

export const EXECUTION_STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
export const TRIGGERS = ['schedule', 'manual', 'inbound', 'retry'] as const;
export const ERROR_CODES = [
  'RATE_LIMIT_EXCEEDED',
  'TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_ERROR',
  'AUTHENTICATION_FAILED',
  'INVALID_REQUEST',
  'CONTENT_FILTERED',
  'QUOTA_EXCEEDED',
  'INTERRUPTED',
] as const;

/**
 * Specification "TaskExecution", and the queue of what is to run.
 *
 * A pending row is *waiting* (`queuedAt` null: a retry before its `runAt`) or *queued* (a worker may take it).
 * A running row has a lease and a claim token: whoever lost the lease can neither finish nor bill the run.
 */
export const executions = pgTable(
  'executions',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    taskId: integer('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    status: text({ enum: EXECUTION_STATUSES }).notNull(),
    trigger: text({ enum: TRIGGERS }).notNull(),
    /** Whether an inbound webhook caused it, directly or as the run that it retries. */
    viaWebhook: boolean('via_webhook').notNull().default(false),
    /** The planned instant it answers; null for a run on demand. Its retries carry the same one. */
    plannedFor: instant('planned_for'),
    attempt: integer().notNull().default(1),
    retryOfId: integer('retry_of_id').references((): AnyPgColumn => executions.id, { onDelete: 'set null' }),
    runAt: instant('run_at').notNull(),
    queuedAt: instant('queued_at'),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    claimToken: uuid('claim_token'),
    leaseUntil: instant('lease_until'),
    /** How often a process died over it. */
    interruptions: integer().notNull().default(0),
    /** When that was found each time; null for the many runs that nobody died over. */
    interruptedAt: instant('interrupted_at').array(),
    result: text(),
    error: text(),
    errorCode: text('error_code', { enum: ERROR_CODES }),
    /** The model that answered, as the provider names it. */
    model: text(),
    inputTokens: integer('input_tokens'),
    outputTokens: integer('output_tokens'),
    tokensEstimated: boolean('tokens_estimated').notNull().default(false),
    costUsd: doublePrecision('cost_usd'),
    processingTimeMs: integer('processing_time_ms'),
    /** The UTC day whose quotas it counts against; null when it counts against none. */
    usageDay: date('usage_day', { mode: 'string' }),
    tokensReserved: integer('tokens_reserved').notNull().default(0),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    uniqueIndex('executions_one_per_occurrence')
      .on(t.taskId, t.plannedFor)
      .where(sql`${t.plannedFor} is not null and ${t.trigger} = 'schedule'`),
    uniqueIndex('executions_one_retry').on(t.retryOfId).where(sql`${t.trigger} = 'retry'`),
    // Deleting a run looks for those that retry it.
    index('executions_retry_of').on(t.retryOfId).where(sql`${t.retryOfId} is not null`),
    index('executions_queued')
      .on(t.userId, t.runAt, t.id)
      .where(sql`${t.status} = 'pending' and ${t.queuedAt} is not null`),
    index('executions_waiting').on(t.runAt).where(sql`${t.status} = 'pending' and ${t.queuedAt} is null`),
    // Without the lease, so that renewing one touches no index.
    index('executions_running').on(t.userId).where(sql`${t.status} = 'running'`),
    // A task never overlaps itself, whoever claims.
    uniqueIndex('executions_one_running').on(t.taskId).where(sql`${t.status} = 'running'`),
    index('executions_live').on(t.userId, t.taskId).where(sql`${t.status} in ('pending', 'running')`),
    index('executions_of_user').on(t.userId, t.id),
    index('executions_of_task').on(t.taskId, t.id),
    check('executions_status', sql`${t.status} in (${wordList(EXECUTION_STATUSES)})`),
    check('executions_trigger', sql`${t.trigger} in (${wordList(TRIGGERS)})`),
    check('executions_error_code', sql`${t.errorCode} in (${wordList(ERROR_CODES)})`),
    check(
      'executions_lease_while_running',
      sql`(${t.status} = 'running') = (${t.claimToken} is not null) and (${t.status} = 'running') = (${t.leaseUntil} is not null)`,
    ),
    check('executions_ended', sql`(${t.status} in ('completed', 'failed')) = (${t.completedAt} is not null)`),
    check('executions_failed_why', sql`(${t.status} = 'failed') = (${t.errorCode} is not null)`),
    check('executions_reserve_while_running', sql`${t.tokensReserved} = 0 or ${t.status} = 'running'`),
  ],
);
