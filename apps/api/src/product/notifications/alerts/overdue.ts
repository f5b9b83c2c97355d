import { type AlertRules, queryRows, recordset, toInstant } from '@carillon/db';
import type { Reader } from '@carillon/texts';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { hasPlannedTrigger } from '../../../platform/queries/runs.ts';
import { inTransaction } from '../../../transaction.ts';
import { type NewAlert, recordAlerts } from './record.ts';

const MAX_BATCH = 200;
/** After a long outage of a large installation, runs start meanwhile: the other processes and later calls alert of the rest. */
const MAX_TIME_MS = 5000;

/** The task is locked. */
interface DueTask extends Reader {
  id: number;
  userId: number;
  name: string;
  notificationEmail: string | null;
  /** Null if the rule is off, or the task or its owner is inactive. */
  minutes: number | null;
  plannedFor: string | null;
  /** No run is missing: it has ended, or was skipped on purpose. */
  isSettled: boolean;
}

/** Of an index with few rows, so that it can be part of another statement of each tick. */
export const isAnyOverdue = (now: Date) =>
  sql`coalesce((select min(overdue_at) from tasks where overdue_at is not null) <= ${now.toISOString()}::timestamptz, false)`;

/**
 * Alerts of tasks whose planned run has not ended in time, once for each instant. Processes may call it concurrently. Does
 * nothing in maintenance mode. A failure is logged and must not stop the tick: the next call tries again.
 */
export async function alertOverdue(ctx: Context): Promise<void> {
  const startedAt = performance.now();
  try {
    let isFull = true;
    while (isFull && performance.now() - startedAt < MAX_TIME_MS) {
      isFull = await inTransaction(ctx, alertBatch);
    }
  } catch (error) {
    ctx.log.error({ err: error }, 'alerting of overdue tasks failed');
  }
}

async function alertBatch(tx: Context): Promise<boolean> {
  const now = tx.now();
  const due = await lockDueTasks(tx, now);
  if (due.length === 0) return false;
  const overdue = due.filter(({ minutes, isSettled }) => minutes !== null && !isSettled);
  await recordAlerts(tx, overdue.map(buildAlert));
  const ids = new Set(overdue.map(({ id }) => id));
  const changes = due.map(({ id }) => ({ id, isAlerted: ids.has(id) }));
  // One that was not alerted gets the instant of its next run; the same instant again would never end.
  await tx.db.execute(sql`
    update tasks t set
      overdue_at = case when not c.is_alerted and t.status = 'active'
        then nullif(${overdueAtSql(sql`t`, sql`t.next_execution_at`, now)}, t.overdue_at) end,
      alerting_since = case when c.is_alerted then coalesce(t.alerting_since, ${now.toISOString()}::timestamptz)
        else t.alerting_since end
    from ${recordset('c', changes, { id: 'int', isAlerted: 'boolean' })} where t.id = c.id`);
  return due.length === MAX_BATCH;
}

/** Skips locked tasks: their run may be ending. What a process of an older version has changed is checked again. */
function lockDueTasks({ db }: Context, now: Date): Promise<DueTask[]> {
  return queryRows<DueTask>(
    db,
    sql`
    with due as materialized (
      select id, user_id, name, notification_email, timezone, overdue_at,
        case when t.status = 'active' then ${overdueMinutesSql(sql`t`)} end as minutes
      from tasks t where overdue_at <= ${now.toISOString()}::timestamptz and not (select maintenance_mode from settings)
      order by overdue_at limit ${MAX_BATCH} for no key update of t skip locked
    )
    select due.id, due.user_id, due.name, due.notification_email, u.language, coalesce(u.timezone, due.timezone) as timezone,
      planned.at as planned_for, case when u.is_active then due.minutes end as minutes,
      exists (select from executions e where e.task_id = due.id and e.planned_for = planned.at
          and ${hasPlannedTrigger('e')} and e.status in ('completed', 'failed'))
        or exists (select from occurrences o where o.task_id = due.id and o.planned_for = planned.at
          and o.fate in ('skipped_by_user', 'over_budget', 'unchanged')) as is_settled
    from due join users u on u.id = due.user_id
      cross join lateral (select due.overdue_at - due.minutes * interval '1 minute' as at) planned`,
  );
}

function buildAlert({
  id,
  userId,
  name,
  language,
  timezone,
  notificationEmail,
  minutes,
  plannedFor,
}: DueTask): NewAlert {
  const at = toInstant(plannedFor as string);
  return {
    kind: 'task.overdue',
    userId,
    owner: { language, timezone },
    at,
    executionId: null,
    data: { task: { id, name }, plannedFor: at, overdueMinutes: minutes as number },
    notificationEmail,
    viaWebhook: false,
  };
}

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
