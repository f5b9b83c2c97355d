import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { admitExecution, type QuotaAccount, type QuotaExceeded, toUtcDay } from '../../../platform/limits/quotas.ts';
import { hasPlannedTrigger, isPlannedTrigger } from '../../../platform/queries/runs.ts';
import { selectBudget } from '../budget/budget.ts';
import { type CompletedExecution, isCancelled, isOverBudget } from '../pipeline/execution-result.ts';
import { hasWaitingLook } from '../sources/queue.ts';
import { countQueued, type DueTask, type TaskPlan } from './plan-occurrences.ts';

/** Of the alias `t` of `tasks`. `isBusy` is a scalar subquery: an `exists` may scan all live executions. */
export const dueTaskColumns = sql`t.id, t.user_id, t.recurrence, t.recurrence_pattern, t.interval, t.timezone, t.scheduled_for,
  t.next_execution_at, t.missed, t.overlap, t.ends_at, t.max_runs, t.planned_runs, t.paused_until, ${selectBudget} as budget,
  json_array_length(t.sources) > 0 as looks_first,
  (select true from executions_live e where e.user_id = t.user_id and e.task_id = t.id and e.status in ('pending', 'running') limit 1) is not null
    as is_busy,
  case when t.overlap = 'queue' then (
    select coalesce(bool_or(e.status = 'pending' and e.trigger = 'schedule'), false) and count(*) > 1
    from executions_live e where e.user_id = t.user_id and e.task_id = t.id and e.status in ('pending', 'running')
  ) else false end as has_waiting`;

/**
 * Skips tasks that are locked.
 *
 * Plan: `tasks_due` in order, a probe of `executions_live_of_user` for each task.
 */
export function lockDueTasks(ctx: Context, dueBefore: Date, limit: number): Promise<DueTask[]> {
  return queryRows<DueTask>(
    ctx.db,
    sql`
    select ${dueTaskColumns}
    from tasks t
    where t.next_execution_at <= ${dueBefore.toISOString()} and not (select maintenance_mode from settings)
    order by t.next_execution_at, t.user_id limit ${limit} for no key update of t skip locked`,
  );
}

/** The pending and running planned executions of locked tasks, with their retries. Those on demand and backfills are kept. */
export async function findPlannedExecutions({ db }: Context, taskIds: readonly number[]): Promise<number[]> {
  if (taskIds.length === 0) return [];
  const found = await queryRows<{ id: number }>(
    db,
    sql`
    select e.id from tasks t join executions_live e on e.user_id = t.user_id and e.task_id = t.id
    where t.id = any(${`{${taskIds.join(',')}}`}::int[]) and e.status in ('pending', 'running')
      and (e.trigger = 'schedule' or e.trigger = 'retry' and exists (
        select from executions p where p.task_id = e.task_id and p.planned_for = e.planned_for
          and ${hasPlannedTrigger('p')} and p.trigger = 'schedule'))`,
  );
  return found.map(({ id }) => id);
}

/** An instant that is already in the ledger gets no second execution. */
export async function insertPlanned(ctx: Context, plans: readonly TaskPlan[], now: Date) {
  if (plans.length === 0) return [];
  const ledger = plans.flatMap(({ task, ledger }) => ledger.map(({ at, fate }) => ({ taskId: task.id, at, fate })));
  const runs = plans.flatMap(({ task, runs }) =>
    runs.map(({ at, exceeded }) => ({ taskId: task.id, userId: task.userId, at, queued: exceeded === null })),
  );
  const moves = plans.map(({ task, runs, nextExecutionAt }) => ({
    taskId: task.id,
    next: nextExecutionAt,
    runs: countQueued(runs),
  }));
  return queryRows<{ id: number; taskId: number; userId: number; isQueued: boolean }>(
    ctx.db,
    sql`
    with recorded as (
      insert into occurrences (task_id, planned_for, fate, recorded_at)
      select task_id, at, fate, ${now.toISOString()}::timestamptz
      from ${recordset('l', ledger, { taskId: 'int', at: 'timestamptz', fate: 'text' })}
      on conflict do nothing
      returning task_id, planned_for
    ), moved as (
      update tasks t set next_execution_at = m.next, planned_runs = t.planned_runs + m.runs
      from ${recordset('m', moves, { taskId: 'int', next: 'timestamptz', runs: 'int' })} where t.id = m.task_id
    )
    insert into executions (task_id, user_id, status, trigger, planned_for, run_at, queued_at, usage_day, created_at)
    select r.task_id, r.user_id, 'pending', 'schedule', r.at, r.at,
      case when r.queued then ${now.toISOString()}::timestamptz end,
      case when r.queued then ${toUtcDay(now)}::date end, ${now.toISOString()}::timestamptz
    from ${recordset('r', runs, { taskId: 'int', userId: 'int', at: 'timestamptz', queued: 'boolean' })}
    join recorded on recorded.task_id = r.task_id and recorded.planned_for = r.at
    returning id, task_id, user_id, queued_at is not null as is_queued`,
  );
}

export interface DueRetry {
  id: number;
  userId: number;
}

/** Skips retries that are locked, or whose task is. Plan: `executions_waiting` in order, the task by primary key. */
export function lockDueRetries(ctx: Context, dueBefore: Date, limit: number): Promise<DueRetry[]> {
  return queryRows<DueRetry>(
    ctx.db,
    sql`
    select e.id, e.user_id from executions_live e join tasks t on t.id = e.task_id
    where e.status = 'pending' and e.queued_at is null and e.run_at <= ${dueBefore.toISOString()}
      and not (select maintenance_mode from settings)
    order by e.run_at limit ${limit} for no key update of t, e skip locked`,
  );
}

export function admitRetries(retries: readonly DueRetry[], accounts: ReadonlyMap<number, QuotaAccount>, now: Date) {
  const queued: DueRetry[] = [];
  const refused: { id: number; exceeded: QuotaExceeded }[] = [];
  const dropped: DueRetry[] = [];
  for (const retry of retries) {
    const account = accounts.get(retry.userId);
    if (!account?.isActive) {
      dropped.push(retry);
      continue;
    }
    const exceeded = admitExecution(account, now);
    if (exceeded) refused.push({ id: retry.id, exceeded });
    else queued.push(retry);
  }
  return { queued, refused, dropped };
}

export async function queueRetries(ctx: Context, { queued, dropped }: ReturnType<typeof admitRetries>, now: Date) {
  if (queued.length + dropped.length === 0) return;
  const toIds = (retries: readonly DueRetry[]) => `{${retries.map(({ id }) => id).join(',')}}`;
  await ctx.db.execute(sql`
    with dropped as (delete from executions_live where id = any(${toIds(dropped)}::int[]))
    update executions_live set queued_at = ${now.toISOString()}, usage_day = ${toUtcDay(now)}
    where id = any(${toIds(queued)}::int[])`);
}

const toIds = (ids: readonly number[]) => sql`${`{${ids.join(',')}}`}::int[]`;

const hasLiveRun = sql`exists (select from executions_live e
  where e.user_id = t.user_id and e.task_id = t.id and e.status in ('pending', 'running'))`;

/**
 * Of tasks without a next run, those whose last run has ended. It is a separate statement, after the task rows are locked:
 * of two runs that end at once, the later must see the end of the other. Tasks of suspended accounts go on later.
 */
export async function findEndedTasks(tx: Context, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const ended = await queryRows<{ id: number }>(
    tx.db,
    sql`select t.id from tasks t join users u on u.id = t.user_id
      where t.id = any(${toIds(ids)}) and u.is_active and not ${hasLiveRun} and not ${hasWaitingLook}`,
  );
  return new Set(ended.map(({ id }) => id));
}

/** Completes the tasks without a next run that have no live run either; the end of that run ends the others. */
export async function completeTasks(tx: Context, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db.execute(sql`update tasks t set status = 'completed', overdue_at = null, updated_at = ${tx.now().toISOString()} from users u
    where t.id = any(${toIds(ids)}) and u.id = t.user_id and u.is_active
      and t.status = 'active' and t.next_execution_at is null and not ${hasLiveRun} and not ${hasWaitingLook}`);
}

/** Corrects the ledger for planned executions that were cancelled, or refused at their start. */
export async function recordFates({ db }: Context, completed: readonly CompletedExecution[]): Promise<void> {
  const fates = completed.flatMap(({ taskId, plannedFor, startedAt, trigger, result }) => {
    if (isCancelled(result)) return plannedFor === null ? [] : [{ taskId, plannedFor, fate: 'cancelled' }];
    if (result.ok || startedAt !== null || !isPlannedTrigger(trigger)) return [];
    return [{ taskId, plannedFor, fate: isOverBudget(result) ? 'over_budget' : 'over_quota' }];
  });
  if (fates.length === 0) return;
  await db.execute(sql`
    update occurrences o set fate = f.fate
    from ${recordset('f', fates, { taskId: 'int', plannedFor: 'timestamptz', fate: 'text' })}
    where o.task_id = f.task_id and o.planned_for = f.planned_for`);
}
