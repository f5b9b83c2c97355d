import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  date,
  doublePrecision,
  index,
  integer,
  json,
  pgTable,
  smallint,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant, wordList } from './columns.ts';
import { tasks } from './tasks.ts';

export const EXECUTION_STATUSES = ['pending', 'running', 'completed', 'failed'] as const;
export const TRIGGERS = ['schedule', 'manual', 'inbound', 'retry', 'backfill'] as const;
export const OUTCOMES = ['done', 'nothing_new', 'not_done'] as const;
export const ERROR_CODES = [
  'RATE_LIMIT_EXCEEDED',
  'TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'PROVIDER_ERROR',
  'AUTHENTICATION_FAILED',
  'UNKNOWN_MODEL',
  'INVALID_REQUEST',
  'CONTENT_FILTERED',
  'QUOTA_EXCEEDED',
  'INTERRUPTED',
  'INVALID_OUTPUT',
  'CANCELLED',
] as const;

/** What was sent to the model. */
export interface ExecutionRequest {
  /** Null without a system message. */
  system: string | null;
  prompt: string;
  model: string;
}

/** A watched value that differs from that of the last success; undefined values are missing. */
export interface OutputChange {
  /** A dotted path such as `releases[0].date`; empty for the whole output. */
  path: string;
  from?: unknown;
  to?: unknown;
  /** Whether a value is only its beginning. Without both values, further changes were left out. */
  cut?: boolean;
}

/** A page that an answer cites. */
export interface Citation {
  url: string;
  title: string;
}

export const SOURCE_STATUSES = ['new', 'unchanged', 'failed'] as const;

/** A source of a run, as it was before the model was asked. It has either `url` or `search`. */
export interface ExecutionSource {
  name: string;
  url?: string;
  search?: string;
  /** Against the last completed run. */
  status: (typeof SOURCE_STATUSES)[number];
  httpStatus: number | null;
  fetchedAt: string;
  /** When its text was read; null without one. */
  asOf: string | null;
  bytes: number | null;
  /** Why it failed. */
  message: string | null;
}

/** What the end of a successful run stores of a source, by its name. */
export type SourceStates = Record<string, { definition: string; digest: string; entries?: string }>;

/** A call to one of the models of a task. The one that answered has no error. */
export interface ModelAttempt {
  /** As the task names it. */
  model: string;
  errorCode: (typeof ERROR_CODES)[number] | null;
  message: string | null;
  ms: number;
}

/**
 * A pending row is waiting (`queuedAt` is null: a retry before its `runAt`) or queued. Completing needs the claim token.
 *
 * Partitioned: `executions_live` has what is pending or running, with the indexes and foreign keys below, and
 * `executions_history` what has ended, by ranges of ids that begin with each month. See `docs/decisions/database.md`.
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
    /** True if an inbound webhook caused it, or caused the execution that it retries. */
    viaWebhook: boolean('via_webhook').notNull().default(false),
    /** The planned instant, also of its retries; null for an execution on demand. */
    plannedFor: instant('planned_for'),
    attempt: integer().notNull().default(1),
    /** May be deleted already. */
    retryOfId: integer('retry_of_id'),
    runAt: instant('run_at').notNull(),
    queuedAt: instant('queued_at'),
    startedAt: instant('started_at'),
    completedAt: instant('completed_at'),
    /** While it runs: one of the 1000 slots of all processes. */
    slot: smallint(),
    /** While it runs: the provider that it asks, if that one has a limit. */
    provider: text(),
    claimToken: uuid('claim_token'),
    leaseUntil: instant('lease_until'),
    /** How often its lease expired because a process died. */
    interruptions: integer().notNull().default(0),
    /** When each of these was detected; null if there is none. */
    interruptedAt: instant('interrupted_at').array(),
    /** As sent by the latest start; null before it, and for executions of older versions. */
    request: json().$type<ExecutionRequest>(),
    /** Of the latest start; null before it, and for executions of older versions of this service. */
    taskVersion: integer('task_version'),
    /** The `data` of the inbound webhook that caused it. */
    inboundData: json('inbound_data').$type<Record<string, unknown>>(),
    result: text(),
    /** The parsed result of a task with an output schema. */
    output: json().$type<unknown>(),
    /** Whether a watched value differs from that of `comparedWithId`; null without a success before. */
    changed: boolean(),
    changes: json().$type<OutputChange[]>(),
    comparedWithId: integer('compared_with_id'),
    /** Null without any. */
    citations: json().$type<Citation[]>(),
    toolUses: integer('tool_uses').notNull().default(0),
    /** The limit of tokens or of size cut the answer off. */
    truncated: boolean().notNull().default(false),
    /** Of the latest start, in order; null before the first one ends, and for executions of older versions. */
    modelAttempts: json('model_attempts').$type<ModelAttempt[]>(),
    /** Of the latest start, in the order of the task; null before it, and for a task without sources. */
    sources: json().$type<ExecutionSource[]>(),
    /** Until it ends. */
    sourceStates: json('source_states').$type<SourceStates>(),
    outcome: text({ enum: OUTCOMES }),
    outcomeReason: text('outcome_reason'),
    error: text(),
    errorCode: text('error_code', { enum: ERROR_CODES }),
    model: text(),
    inputTokens: integer('input_tokens'),
    outputTokens: integer('output_tokens'),
    tokensEstimated: boolean('tokens_estimated').notNull().default(false),
    costUsd: doublePrecision('cost_usd'),
    processingTimeMs: integer('processing_time_ms'),
    /** The UTC day whose quotas it counts against; null if none. */
    usageDay: date('usage_day', { mode: 'string' }),
    tokensReserved: integer('tokens_reserved').notNull().default(0),
    createdAt: instant('created_at').notNull(),
    /** When its owner first saw how it ended. No index has it: a run pays nothing for it. */
    seenAt: instant('seen_at'),
    /** True since it ended, which moves the row to the history. Null if it ended before there were partitions. */
    archived: boolean().default(false),
  },
  (t) => [
    uniqueIndex('executions_one_per_occurrence')
      .on(t.taskId, t.plannedFor)
      .where(sql`${t.plannedFor} is not null and ${t.trigger} in ('schedule', 'backfill')`),
    uniqueIndex('executions_one_retry').on(t.retryOfId).where(sql`${t.trigger} = 'retry'`),
    index('executions_retry_of').on(t.retryOfId).where(sql`${t.retryOfId} is not null`),
    index('executions_queued')
      .on(t.userId, t.runAt, t.id)
      .where(sql`${t.status} = 'pending' and ${t.queuedAt} is not null`),
    index('executions_waiting').on(t.runAt).where(sql`${t.status} = 'pending' and ${t.queuedAt} is null`),
    index('executions_retries').on(t.userId, t.taskId).where(sql`${t.status} = 'pending' and ${t.trigger} = 'retry'`),
    // Without the lease, so that a renewal updates no index.
    index('executions_running').on(t.userId).where(sql`${t.status} = 'running'`),
    // At most 1000 run.
    uniqueIndex('executions_slots').on(t.slot).where(sql`${t.status} = 'running'`),
    // Executions of a task never overlap.
    uniqueIndex('executions_one_running').on(t.taskId).where(sql`${t.status} = 'running'`),
    index('executions_live_of_user').on(t.userId, t.taskId).where(sql`${t.status} in ('pending', 'running')`),
    index('executions_of_user').on(t.userId, t.id),
    index('executions_of_task').on(t.taskId, t.id),
    check('executions_status', sql`${t.status} in (${wordList(EXECUTION_STATUSES)})`),
    check('executions_trigger', sql`${t.trigger} in (${wordList(TRIGGERS)})`),
    check('executions_outcome', sql`${t.outcome} in (${wordList(OUTCOMES)})`),
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

/** What was asked about the answer of a run. Deleted with the run: there is no foreign key to a partitioned table. */
export const runQuestions = pgTable(
  'run_questions',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    executionId: integer('execution_id').notNull(),
    taskId: integer('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    message: text().notNull(),
    content: text().notNull(),
    model: text().notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    index('run_questions_of_execution').on(t.executionId, t.id),
    index('run_questions_of_task').on(t.taskId),
    index('run_questions_of_user').on(t.userId, t.id),
  ],
);
