import type { AlertRules } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';

const MINUTE_MS = 60_000;

interface AlertedTask {
  status: string;
  nextExecutionAt: Date | null;
  webhookUrl: string | null;
  channels: readonly string[];
  notificationEmail: string | null;
  alerts: AlertRules | null;
}

/** The `overdue_at` of a new task. */
export function computeOverdueAt(task: AlertedTask): Date | null {
  const minutes = findMinutes(task);
  if (minutes === undefined || task.nextExecutionAt === null) return null;
  return new Date(task.nextExecutionAt.getTime() + minutes * MINUTE_MS);
}

/**
 * The `overdue_at` of an active task `t` whose next planned instant is `next`. Planned runs that have not ended come first,
 * unless they are late already: several that make up for one outage are one alert.
 */
export const overdueAtSql = (t: SQL, next: SQL, now: Date): SQL => {
  const minutes = sql`${overdueMinutesSql(t)} * interval '1 minute'`;
  const live = firstLiveInstant(sql`${t}.user_id`, sql`${t}.id`);
  return sql`case when ${overdueMinutesSql(t)} is not null then
    least(${next}, (${live} and e.planned_for > ${now.toISOString()}::timestamptz - ${minutes})) + ${minutes} end`;
};

/** The `overdue_at` of a task that is changed to `task`. */
export function changedOverdueAt(task: AlertedTask & { id: number; userId: number }): SQL | null {
  const minutes = findMinutes(task);
  if (minutes === undefined || task.status !== 'active') return null;
  const next = sql`${task.nextExecutionAt?.toISOString() ?? null}::timestamptz`;
  const live = firstLiveInstant(sql`${task.userId}::int`, sql`${task.id}::int`);
  return sql`least(${next}, (${live})) + ${minutes}::int * interval '1 minute'`;
}

const findMinutes = (task: AlertedTask) =>
  getEffectiveRules({ ...task, hasWebhook: task.webhookUrl !== null || task.channels.length > 0 }).overdueMinutes;

/** Retries do not count: the run of their instant has ended. */
const firstLiveInstant = (userId: SQL, taskId: SQL) => sql`select min(e.planned_for) from executions_live e
  where e.user_id = ${userId} and e.task_id = ${taskId} and e.status in ('pending', 'running') and e.trigger = 'schedule'`;

/** The rules of a task that has a webhook, a channel or an e-mail address, and no rules itself. */
const DEFAULT_RULES = { overdueMinutes: 15, failuresInRow: 3, fallbacksInRow: 3 } satisfies AlertRules;
const NO_RULES: AlertRules = {};

interface RuleSettings {
  /** Null for the default rules. */
  alerts: AlertRules | null;
  /** Whether it has a webhook or a channel. */
  hasWebhook: boolean;
  notificationEmail: string | null;
}

export function getEffectiveRules({ alerts, hasWebhook, notificationEmail }: RuleSettings): AlertRules {
  return alerts ?? (hasWebhook || notificationEmail !== null ? DEFAULT_RULES : NO_RULES);
}

const defaultMinutes = sql.raw(String(DEFAULT_RULES.overdueMinutes));

/** The same rule `overdueMinutes` in SQL, for the row `t` of `tasks`; null if it is off. */
export const overdueMinutesSql = (t: SQL): SQL => sql`case
  when ${t}.alerts is not null then (${t}.alerts ->> 'overdueMinutes')::int
  when ${t}.webhook_url is not null or ${t}.notification_email is not null or ${t}.channels <> '{}' then ${defaultMinutes} end`;
