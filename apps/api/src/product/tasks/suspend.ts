import { queryRows, recordset, tasks } from '@carillon/db';
import { and, eq, isNull, lte, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { hasPlannedTrigger } from '../../platform/queries/runs.ts';
import { overdueAtSql } from '../notifications/alerts/overdue.ts';
import { nextRun } from '../schedule/next-run.ts';
import { recordUsage } from '../usage/record.ts';
import { markMissed } from './occurrences.ts';
import { type TaskRow, taskFields } from './read.ts';

/** For use before the user's row is locked: `changeTask` locks in that order. */
export async function lockUserTasks(
  ctx: Context,
  userId: number,
  strength: 'update' | 'no key update' = 'no key update',
): Promise<void> {
  await ctx.db.select({ id: tasks.id }).from(tasks).where(eq(tasks.userId, userId)).orderBy(tasks.id).for(strength);
}

/** Pending executions are deleted; running ones complete. */
export async function suspendTasks(ctx: Context, userId: number): Promise<void> {
  const now = ctx.now();
  const owned = eq(tasks.userId, userId);
  const due = await ctx.db
    .select(taskFields)
    .from(tasks)
    .where(and(owned, lte(tasks.nextExecutionAt, now)));
  for (const task of due) {
    // A `once` task runs late, once the account is active again.
    if (task.recurrence !== 'once') await markMissed(ctx, task, now);
  }
  await ctx.db.update(tasks).set({ nextExecutionAt: null, overdueAt: null }).where(owned);
  await deletePending(ctx, userId);
}

/** Their occurrences become `missed`, or are deleted for a `once` task. They no longer count against `maxRuns`. */
async function deletePending(ctx: Context, userId: number) {
  const deleted = await queryRows<{ day: string | null }>(
    ctx.db,
    sql`
    with deleted as (
      delete from executions_live where user_id = ${userId} and status = 'pending'
      returning task_id, planned_for, trigger, usage_day
    ), planned as (
      select d.task_id, d.planned_for, d.trigger, t.recurrence = 'once' as is_once
      from deleted d join tasks t on t.id = d.task_id where ${hasPlannedTrigger('d')}
    ), removed as (
      delete from occurrences o using planned p
      where o.task_id = p.task_id and o.planned_for = p.planned_for and p.is_once
    ), missed as (
      update occurrences o set fate = 'missed' from planned p
      where o.task_id = p.task_id and o.planned_for = p.planned_for and not p.is_once
    ), uncounted as (
      update tasks t set planned_runs = greatest(0, t.planned_runs - p.runs)
      from (select task_id, count(*)::int as runs from planned where trigger = 'schedule' group by task_id) p where t.id = p.task_id
    )
    select usage_day as day from deleted`,
  );
  await recordUsage(
    ctx,
    deleted.flatMap(({ day }) => (day === null ? [] : [{ userId, day, executions: -1 }])),
  );
}

/** A `once` task that was due during the suspension runs late. A task without a further run ends: its retries were deleted. */
export async function resumeTasks(ctx: Context, userId: number): Promise<void> {
  const now = ctx.now();
  const suspended = await ctx.db
    .select({
      ...taskFields,
      consecutiveFailures: tasks.consecutiveFailures,
      hasRun: sql<boolean>`exists (select from occurrences o where o.task_id = "tasks"."id"
        and o.planned_for = "tasks"."scheduled_for")`,
      isLive: sql<boolean>`exists (select from executions_live e where e.user_id = "tasks"."user_id"
        and e.task_id = "tasks"."id" and e.status in ('pending', 'running'))`,
    })
    .from(tasks)
    .where(and(eq(tasks.userId, userId), eq(tasks.status, 'active'), isNull(tasks.nextExecutionAt)));
  const resumed = suspended.map((task) => {
    const next = findNextRun(ctx, task, now);
    if (next !== null || task.isLive) return { id: task.id, next, status: 'active' };
    if (task.recurrence === 'once') return { id: task.id, next, status: 'failed' };
    const hasEnd = task.endsAt !== null || task.maxRuns !== null;
    return { id: task.id, next, status: hasEnd ? (task.consecutiveFailures > 0 ? 'failed' : 'completed') : 'active' };
  });
  if (resumed.length === 0) return;
  await ctx.db.execute(sql`
    update tasks t set next_execution_at = r.next, status = r.status,
      overdue_at = case when r.status = 'active' then ${overdueAtSql(sql`t`, sql`r.next`, now)} end,
      updated_at = case when r.status = 'active' then t.updated_at else ${now.toISOString()} end
    from ${recordset('r', resumed, { id: 'int', next: 'timestamptz', status: 'text' })}
    where t.id = r.id`);
}

function findNextRun(ctx: Context, task: TaskRow & { hasRun: boolean }, now: Date): Date | null {
  if (task.recurrence === 'once') return task.hasRun ? null : task.scheduledFor;
  try {
    return nextRun(task, now);
  } catch (error) {
    // One invalid schedule must not prevent the activation.
    ctx.log.error({ err: error, taskId: task.id }, 'next run of a task cannot be computed');
    return null;
  }
}
