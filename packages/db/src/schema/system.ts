import { sql } from 'drizzle-orm';
import { bigint, boolean, check, index, integer, jsonb, pgTable, text } from 'drizzle-orm/pg-core';
import { instant, wordList } from './columns.ts';

/** Whose sign-ins need a second factor. */
export const SECOND_FACTOR_DEMANDS = ['off', 'admins', 'all'] as const;

export const settings = pgTable(
  'settings',
  {
    id: integer().primaryKey().default(1),
    trialDurationDays: integer('trial_duration_days').notNull().default(14),
    maxTasksPerUser: integer('max_tasks_per_user').notNull().default(100),
    maxExecutionsPerDay: integer('max_executions_per_day').notNull().default(500),
    defaultModel: text('default_model').notNull().default('openai/gpt-5-mini'),
    secondFactor: text('second_factor', { enum: SECOND_FACTOR_DEMANDS }).notNull().default('off'),
    maintenanceMode: boolean('maintenance_mode').notNull().default(false),
    /** By `carillon backup`; null before the first one. */
    lastBackupAt: instant('last_backup_at'),
    /** When the admins were last notified that it is old. */
    backupNoticedAt: instant('backup_noticed_at'),
    /** When the lists of models were last looked at. */
    modelsCheckedAt: instant('models_checked_at'),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    check('settings_one_row', sql`${t.id} = 1`),
    check('settings_second_factor', sql`${t.secondFactor} in (${wordList(SECOND_FACTOR_DEMANDS)})`),
  ],
);

/** When the scheduler trigger was last called, with a precision of some seconds. One row. */
export const schedulerState = pgTable(
  'scheduler_state',
  {
    id: integer().primaryKey().default(1),
    lastCalledAt: instant('last_called_at').notNull().defaultNow(),
    /** When the admins were notified that it is silent; null while it is not. */
    silentSince: instant('silent_since'),
  },
  (t) => [check('scheduler_state_one_row', sql`${t.id} = 1`)],
);

/** `actorId` and `userId` are not foreign keys: the record of a deletion outlives the account. */
export const auditLog = pgTable(
  'audit_log',
  {
    id: bigint({ mode: 'number' }).primaryKey().generatedAlwaysAsIdentity(),
    at: instant('at').notNull(),
    kind: text().notNull(),
    actorId: integer('actor_id'),
    actorEmail: text('actor_email'),
    userId: integer('user_id'),
    details: jsonb().$type<Record<string, unknown>>().notNull(),
    address: text(),
    requestId: text('request_id'),
  },
  (t) => [
    index('audit_log_of_user').on(t.userId, t.id),
    index('audit_log_of_actor').on(t.actorId, t.id),
    index('audit_log_of_kind').on(t.kind, t.id),
  ],
);
