import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { type QuotaExceeded, toUtcDay } from '../limits/quotas.ts';
import type { Schedule } from '../schedule/recurrence.ts';

/** A task whose next run is due, as it was when it was locked. */
export interface DueTask extends Omit<Schedule, 'scheduledFor'> {
  id: number;
  userId: number;
  scheduledFor: string;
  nextExecutionAt: string;
  /** Whether a run of it is pending or running. */
  busy: boolean;
}

/** What becomes of a due task: its ledger rows, the instant that runs or is refused, and its next instant. */
export interface Plan {
  task: DueTask;
  ledger: { at: Date; fate: 'ran' | 'late' | 'skipped_overlap' | 'missed' | 'over_quota' }[];
  run: { at: Date; breach: QuotaExceeded | null } | null;
  next: Date | null;
}

/**
 * Locks up to `limit` tasks that fell due before `dueBefore`, the longest due first, and passes by what others hold.
 * None in maintenance mode. A scalar subquery for `busy`: an `exists` may be planned as one pass over all that waits
 * and runs.
 */
export function findDueTasks(ctx: Context, dueBefore: Date, limit: number): Promise<DueTask[]> {
  return queryRows<DueTask>(
    ctx.db,
    sql`
    select t.id, t.user_id as "userId", t.recurrence, t.recurrence_pattern as "recurrencePattern", t.timezone,
      t.scheduled_for as "scheduledFor", t.next_execution_at as "nextExecutionAt",
      (select true from executions e where e.user_id = t.user_id and e.task_id = t.id and e.status in ('pending', 'running') limit 1) is not null
        as busy
    from tasks t
    where t.next_execution_at <= ${dueBefore.toISOString()} and not (select maintenance_mode from settings)
    order by t.next_execution_at, t.user_id limit ${limit} for no key update of t skip locked`,
  );
}

/**
 * Writes ledger rows, executions and next instants at once, and returns the executions. An instant that has its ledger
 * row gets no second run.
 */
export async function writePlans(ctx: Context, plans: readonly Plan[], now: Date) {
  if (plans.length === 0) return [];
  const ledger = plans.flatMap(({ task, ledger }) => ledger.map(({ at, fate }) => ({ task_id: task.id, at, fate })));
  const runs = plans.flatMap(({ task, run }) =>
    run ? [{ task_id: task.id, user_id: task.userId, at: run.at, queued: run.breach === null }] : [],
  );
  const moves = plans.map(({ task, next }) => ({ task_id: task.id, next }));
  return queryRows<{ id: number; taskId: number; userId: number; queued: boolean }>(
    ctx.db,
    sql`
    with recorded as (
      insert into occurrences (task_id, planned_for, fate, recorded_at)
      select task_id, at, fate, ${now.toISOString()}::timestamptz
      from jsonb_to_recordset(${recordset(ledger)}::jsonb) as l(task_id int, at timestamptz, fate text)
      on conflict do nothing
      returning task_id, planned_for
    ), moved as (
      update tasks t set next_execution_at = m.next
      from jsonb_to_recordset(${recordset(moves)}::jsonb) as m(task_id int, next timestamptz) where t.id = m.task_id
    )
    insert into executions (task_id, user_id, status, trigger, planned_for, run_at, queued_at, usage_day, created_at)
    select r.task_id, r.user_id, 'pending', 'schedule', r.at, r.at,
      case when r.queued then ${now.toISOString()}::timestamptz end,
      case when r.queued then ${toUtcDay(now)}::date end, ${now.toISOString()}::timestamptz
    from jsonb_to_recordset(${recordset(runs)}::jsonb) as r(task_id int, user_id int, at timestamptz, queued boolean)
    join recorded on recorded.task_id = r.task_id and recorded.planned_for = r.at
    returning id, task_id as "taskId", user_id as "userId", queued_at is not null as queued`,
  );
}
