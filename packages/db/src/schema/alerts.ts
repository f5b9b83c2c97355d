import { sql } from 'drizzle-orm';
import { check, index, integer, json, pgTable, text, unique } from 'drizzle-orm/pg-core';
import { users } from './accounts.ts';
import { instant, wordList } from './columns.ts';
import { tasks } from './tasks.ts';

export const ALERT_KINDS = [
  'task.overdue',
  'task.failing',
  'task.recovered',
  'task.expensive',
  'task.slow',
  'task.degraded',
] as const;

/** The unique constraint limits an alert to one per task, kind and instant. */
export const alerts = pgTable(
  'alerts',
  {
    id: integer().primaryKey().generatedAlwaysAsIdentity(),
    userId: integer('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    taskId: integer('task_id')
      .notNull()
      .references(() => tasks.id, { onDelete: 'cascade' }),
    kind: text({ enum: ALERT_KINDS }).notNull(),
    /** The planned instant that is overdue, or that of the run; of a run on demand, when it was asked for. */
    at: instant('at').notNull(),
    /** May be deleted already. */
    executionId: integer('execution_id'),
    title: text().notNull(),
    message: text().notNull(),
    /** The data of its event. */
    data: json().$type<Record<string, unknown>>().notNull(),
    createdAt: instant('created_at').notNull(),
    acknowledgedAt: instant('acknowledged_at'),
  },
  (t) => [
    unique('alerts_once').on(t.taskId, t.kind, t.at),
    index('alerts_of_user').on(t.userId, t.id),
    index('alerts_of_execution').on(t.executionId).where(sql`${t.executionId} is not null`),
    check('alerts_kind', sql`${t.kind} in (${wordList(ALERT_KINDS)})`),
  ],
);
