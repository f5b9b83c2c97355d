import { queryRows, recordset, tasks } from '@carillon/db';
import { and, eq, isNull, lte, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { nextOccurrence } from '../schedule/recurrence.ts';
import { recordUsage } from '../usage/record.ts';
import { type TaskRow, taskFields } from './read.ts';
import { markMissed } from './write.ts';

/** Locks all tasks of a user; to be called before the user's own row is locked, the order of who resumes a task. */
export async function lockUserTasks(
  ctx: Context,
  userId: number,
  strength: 'update' | 'no key update' = 'no key update',
): Promise<void> {
  await ctx.db.select({ id: tasks.id }).from(tasks).where(eq(tasks.userId, userId)).orderBy(tasks.id).for(strength);
}

/**
 * Lets the tasks of a user rest who is being deactivated, in the caller's transaction: they keep their status and have
 * no next run. What waits for a worker goes and gives its quota back; what runs is left to finish (decisions §9).
 */
export async function suspendTasks(ctx: Context, userId: number): Promise<void> {
  const now = ctx.now();
  const mine = eq(tasks.userId, userId);
  const due = await ctx.db
    .select(taskFields)
    .from(tasks)
    .where(and(mine, lte(tasks.nextExecutionAt, now)));
  for (const task of due) {
    // A single run is not missed: it runs late, once the account is active again.
    if (task.recurrence !== 'once') await markMissed(ctx, task, now);
  }
  await ctx.db.update(tasks).set({ nextExecutionAt: null }).where(mine);
  await dropPending(ctx, userId);
}

/** The ledger keeps no run that was not: an instant whose run is dropped was missed, that of a single run is to come. */
async function dropPending(ctx: Context, userId: number) {
  const dropped = await queryRows<{ day: string | null }>(
    ctx.db,
    sql`
    with dropped as (
      delete from executions where user_id = ${userId} and status = 'pending'
      returning task_id, planned_for, trigger, usage_day
    ), unplanned as (
      select d.task_id, d.planned_for, t.recurrence = 'once' as is_single
      from dropped d join tasks t on t.id = d.task_id where d.trigger = 'schedule'
    ), taken_back as (
      delete from occurrences o using unplanned u
      where o.task_id = u.task_id and o.planned_for = u.planned_for and u.is_single
    ), missed as (
      update occurrences o set fate = 'missed' from unplanned u
      where o.task_id = u.task_id and o.planned_for = u.planned_for and not u.is_single
    )
    select usage_day as day from dropped`,
  );
  await recordUsage(
    ctx,
    dropped.flatMap(({ day }) => (day === null ? [] : [{ userId, day, executions: -1 }])),
  );
}

/**
 * Wakes the tasks of a user who is active again, in the caller's transaction: each goes on with its next future run, as
 * after a pause. A single run that was missed meanwhile runs late; one whose retries were dropped has failed.
 */
export async function resumeTasks(ctx: Context, userId: number): Promise<void> {
  const now = ctx.now();
  const resting = await ctx.db
    .select({
      ...taskFields,
      hasRun: sql<boolean>`exists (select from occurrences o where o.task_id = "tasks"."id"
        and o.planned_for = "tasks"."scheduled_for")`,
      isLive: sql<boolean>`exists (select from executions e where e.user_id = "tasks"."user_id"
        and e.task_id = "tasks"."id" and e.status in ('pending', 'running'))`,
    })
    .from(tasks)
    .where(and(eq(tasks.userId, userId), eq(tasks.status, 'active'), isNull(tasks.nextExecutionAt)));
  const woken = resting.map((task) => {
    const next = nextRunOf(ctx, task, now);
    const isOver = next === null && task.recurrence === 'once' && !task.isLive;
    return { id: task.id, next, status: isOver ? 'failed' : 'active' };
  });
  if (woken.length === 0) return;
  await ctx.db.execute(sql`
    update tasks t set next_execution_at = w.next, status = w.status
    from jsonb_to_recordset(${recordset(woken)}::jsonb) as w(id int, next timestamptz, status text)
    where t.id = w.id`);
}

function nextRunOf(ctx: Context, task: TaskRow & { hasRun: boolean }, now: Date): Date | null {
  if (task.recurrence === 'once') return task.hasRun ? null : task.scheduledFor;
  try {
    return nextOccurrence(task, now);
  } catch (error) {
    // One task that cannot be computed must not keep the account from being activated.
    ctx.log.error({ err: error, taskId: task.id }, 'next run of a task cannot be computed');
    return null;
  }
}
