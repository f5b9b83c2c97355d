import type { AlertRules } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import { getEffectiveRules, overdueMinutesSql } from './rules.ts';

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
