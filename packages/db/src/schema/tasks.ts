import { type SQLWrapper, sql } from 'drizzle-orm';
import {
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  json,
  pgTable,
  primaryKey,
  smallint,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant, revision, wordList } from './columns.ts';

export const RECURRENCES = ['once', 'daily', 'weekly', 'monthly'] as const;
export const TASK_STATUSES = ['active', 'paused', 'completed', 'failed'] as const;
export const FATES = [
  'ran',
  'late',
  'skipped_overlap',
  'skipped_by_user',
  'missed',
  'over_quota',
  'over_budget',
  'cancelled',
  'unchanged',
] as const;
export const RUN_IF = ['always', 'changed'] as const;
export const NOTIFY_WHEN = ['always', 'change', 'failure', 'news'] as const;
export const MISSED_POLICIES = ['latest', 'none', 'all'] as const;
export const WEB_TOOLS = ['web_search', 'web_fetch'] as const;
export const OVERLAP_POLICIES = ['skip', 'queue', 'cancel'] as const;

/** What the model is given beside the prompt. */
export interface RunContext {
  clock: boolean;
  previousResult: boolean;
}

/** When the owner of a task is alerted. A rule that is left out is off. */
export interface AlertRules {
  overdueMinutes?: number;
  failuresInRow?: number;
  costAboveUsd?: number;
  durationAboveMs?: number;
  fallbacksInRow?: number;
}

/** What is read before each run: it has either `url` or `search`. */
export interface TaskSource {
  name: string;
  url?: string;
  /** A JSON Pointer, or a CSS selector. */
  select?: string;
  /** The name of a secret of the account. */
  secret?: string;
  search?: string;
}

/** A JSON Schema of the draft 2020-12. */
export type OutputSchema = Record<string, unknown>;

/** A task whose last success the prompt may name. */
export interface TaskInput {
  taskId: number;
  name: string;
}

/** The order of lists by next run. */
export const nextRunOrder = (t: { status: SQLWrapper; recurrence: SQLWrapper; nextExecutionAt: SQLWrapper }) =>
  sql`(case when ${t.status} = 'failed' and ${t.recurrence} <> 'once' then '-infinity' else coalesce(${t.nextExecutionAt}, 'infinity') end)`;

/** `nextExecutionAt` is set only while the task is active and has an instant ahead. */
export const tasks = pgTable(
  'tasks',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The trigger `tasks_named` replaces an empty one by `task-<id>`. */
    externalId: text('external_id').notNull().default(''),
    /** Whether an import created or changed it: imports prune no others. */
    isImported: boolean('is_imported').notNull().default(false),
    name: text().notNull(),
    description: text(),
    prompt: text().notNull(),
    scheduledFor: instant('scheduled_for').notNull(),
    nextExecutionAt: instant('next_execution_at'),
    recurrence: text({ enum: RECURRENCES }).notNull(),
    recurrencePattern: text('recurrence_pattern'),
    /** In days, weeks or months. */
    interval: smallint().notNull().default(1),
    timezone: text().notNull(),
    aiModel: text('ai_model').notNull(),
    /** Asked in this order when `aiModel` fails. */
    fallbackModels: text('fallback_models').array().notNull().default([]),
    maxTokens: integer('max_tokens').notNull(),
    /** In hundredths: 70 is 0.70. */
    temperature: integer().notNull(),
    status: text({ enum: TASK_STATUSES }).notNull().default('active'),
    executionCount: integer('execution_count').notNull().default(0),
    consecutiveFailures: integer('consecutive_failures').notNull().default(0),
    /** Since the last success, failures whose retry was due after the next planned run. Alerts count them too. */
    waitingFailures: integer('waiting_failures').notNull().default(0),
    /** Runs in a row that count as failures for alerts alone: those that were not done, and the failures before them. */
    notDoneInRow: integer('not_done_in_row').notNull().default(0),
    /** Runs in a row that another model than the first answered. */
    fallbacksInRow: integer('fallbacks_in_row').notNull().default(0),
    /** Processing time of the latest completed execution, the estimate for the next one. */
    lastDurationMs: integer('last_duration_ms'),
    lastExecutionAt: instant('last_execution_at'),
    attachments: uuid('attachment_ids').array().notNull().default([]),
    webhookUrl: text('webhook_url'),
    /** Ids of channels of the same user. */
    channels: uuid().array().notNull().default([]),
    notificationEmail: text('notification_email'),
    // `json` keeps the order of the fields, which `jsonb` does not.
    context: json().$type<RunContext>().notNull().default({ clock: true, previousResult: false }),
    outputSchema: json('output_schema').$type<OutputSchema>(),
    inputs: json().$type<TaskInput[]>().notNull().default([]),
    /** The provider's own tools that the model may use. */
    tools: text({ enum: WEB_TOOLS }).array().notNull().default([]),
    maxToolUses: integer('max_tool_uses').notNull().default(5),
    requireTools: boolean('require_tools').notNull().default(false),
    sources: json().$type<TaskSource[]>().notNull().default([]),
    runIf: text('run_if', { enum: RUN_IF }).notNull().default('always'),
    notify: text({ enum: NOTIFY_WHEN }).notNull().default('always'),
    watch: text().array().notNull().default([]),
    missed: text({ enum: MISSED_POLICIES }).notNull().default('latest'),
    overlap: text({ enum: OVERLAP_POLICIES }).notNull().default('skip'),
    endsAt: instant('ends_at'),
    maxRuns: integer('max_runs'),
    pausedUntil: instant('paused_until'),
    /** Null for the timeout of the configuration. */
    timeoutMs: integer('timeout_ms'),
    monthlyBudgetUsd: doublePrecision('monthly_budget_usd'),
    maxRetries: integer('max_retries').notNull().default(3),
    /** Null for the default rules. */
    alerts: json().$type<AlertRules>(),
    /** The planned runs that were queued, counted against `maxRuns`. */
    plannedRuns: integer('planned_runs').notNull().default(0),
    /** The latest completed execution, which retention may have deleted. */
    lastSuccessId: integer('last_success_id'),
    lastSuccessAt: instant('last_success_at'),
    /** A hash of its result, so that an equal result is recognized without reading it. */
    lastSuccessDigest: text('last_success_digest'),
    /** Of all its calls. */
    lastSuccessCostUsd: doublePrecision('last_success_cost_usd'),
    /** The UTC month (`2026-11`) of `monthCostUsd`. */
    costMonth: text('cost_month'),
    monthCostUsd: doublePrecision('month_cost_usd').notNull().default(0),
    /** When `task.overdue` is due if no planned run ends before; null if it was sent, or without that rule. */
    overdueAt: instant('overdue_at'),
    /** Since the first alert that no success has followed yet. */
    alertingSince: instant('alerting_since'),
    /** Whether the present row of failures was alerted. */
    isFailingAlerted: boolean('is_failing_alerted').notNull().default(false),
    /** What its owner has put away, such as `failing TIMEOUT`, and when: a success since then ends it. */
    acknowledgedCause: text('acknowledged_cause'),
    acknowledgedAt: instant('acknowledged_at'),
    /** The present one. It is in `task_versions` since the creation of the task, or for older tasks since their first change. */
    version: integer().notNull().default(1),
    /** The version of the latest run that has started. */
    usedVersion: integer('used_version'),
    revision: revision(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (t) => [
    // For the tick, in due order. Among tasks due together those of one user are adjacent: a batch locks few counters.
    index('tasks_due').on(t.nextExecutionAt, t.userId).where(sql`${t.nextExecutionAt} is not null`),
    uniqueIndex('tasks_external_id').on(t.userId, t.externalId),
    index('tasks_of_user').on(t.userId, t.id),
    // For lists by next run: recurring tasks that were stopped come first, others without a next run last.
    index('tasks_by_attention').on(t.userId, nextRunOrder(t), t.id),
    index('tasks_by_name').on(t.userId, sql`lower(${t.name})`, t.id),
    index('tasks_active_of_user').on(t.userId).where(sql`${t.status} = 'active'`),
    index('tasks_failing').on(t.userId, t.id).where(sql`${t.consecutiveFailures} > 0`),
    index('tasks_attachments').using('gin', t.attachments).where(sql`${t.attachments} <> '{}'`),
    check('tasks_recurrence', sql`${t.recurrence} in (${wordList(RECURRENCES)})`),
    check('tasks_status', sql`${t.status} in (${wordList(TASK_STATUSES)})`),
    check('tasks_next_only_when_active', sql`${t.nextExecutionAt} is null or ${t.status} = 'active'`),
    check('tasks_max_tokens', sql`${t.maxTokens} between 1 and 200000`),
    check('tasks_temperature', sql`${t.temperature} between 0 and 200`),
    index('tasks_overdue').on(t.overdueAt).where(sql`${t.overdueAt} is not null`),
    check('tasks_run_if', sql`${t.runIf} in (${wordList(RUN_IF)})`),
    check('tasks_notify', sql`${t.notify} in (${wordList(NOTIFY_WHEN)})`),
    check('tasks_tools', sql`${t.tools} <@ array[${wordList(WEB_TOOLS)}]`),
    check('tasks_missed', sql`${t.missed} in (${wordList(MISSED_POLICIES)})`),
    check('tasks_overlap', sql`${t.overlap} in (${wordList(OVERLAP_POLICIES)})`),
    check('tasks_interval', sql`${t.interval} between 1 and 99`),
    check('tasks_max_retries', sql`${t.maxRetries} between 0 and 3`),
  ],
);

export const CHANGED_VIA = ['page', 'api', 'mcp', 'import'] as const;

/** What a run uses of a task, since the change that made the version: the first one has all fields, others what is new in them. */
export const taskVersions = pgTable(
  'task_versions',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    taskId: integer('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    number: integer().notNull(),
    /** Who made the change. */
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    via: text({ enum: CHANGED_VIA }).notNull(),
    /** The names of the fields in `settings`, so that a search for the latest value reads no long text. */
    fields: text().array().notNull(),
    settings: json().$type<Record<string, unknown>>().notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (t) => [
    unique('task_versions_once').on(t.taskId, t.number),
    index('task_versions_of_user').on(t.userId, t.id),
    check('task_versions_via', sql`${t.via} in (${wordList(CHANGED_VIA)})`),
  ],
);

export const occurrences = pgTable(
  'occurrences',
  {
    taskId: integer('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    plannedFor: instant('planned_for').notNull(),
    fate: text({ enum: FATES }).notNull(),
    recordedAt: instant('recorded_at').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.taskId, t.plannedFor] }),
    // Of outages, which are rare: a run in time has no entry.
    index('occurrences_missed').on(t.taskId, t.recordedAt).where(sql`${t.fate} in ('missed', 'late')`),
    check('occurrences_fate', sql`${t.fate} in (${wordList(FATES)})`),
  ],
);

/** Tasks that the agent has proposed. Nothing of a proposal runs before its user confirms it. */
export const taskProposals = pgTable(
  'task_proposals',
  {
    id: uuid().primaryKey(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The body of the request that creates the task. */
    draft: json().$type<Record<string, unknown>>().notNull(),
    createdAt: instant('created_at').notNull(),
    expiresAt: instant('expires_at').notNull(),
    confirmedAt: instant('confirmed_at'),
    /** The task that was created; null before, and after its deletion. */
    taskId: integer('task_id').references(() => tasks.id, { onDelete: 'set null' }),
  },
  (t) => [
    index('task_proposals_of_user').on(t.userId),
    index('task_proposals_of_task').on(t.taskId),
    index('task_proposals_expiry').on(t.expiresAt),
  ],
);
