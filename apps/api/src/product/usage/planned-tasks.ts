import { tasks } from '@carillon/db';
import { and, asc, eq, isNotNull } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';

/** The active tasks of the caller that have a next run, of which the plan allows a few. */
export async function listPlannedTasks({ db }: Context, caller: Pick<Caller, 'id'>) {
  const rows = await db
    .select({
      taskId: tasks.id,
      taskName: tasks.name,
      nextExecutionAt: tasks.nextExecutionAt,
      scheduledFor: tasks.scheduledFor,
      recurrence: tasks.recurrence,
      recurrencePattern: tasks.recurrencePattern,
      interval: tasks.interval,
      timezone: tasks.timezone,
      endsAt: tasks.endsAt,
      maxRuns: tasks.maxRuns,
      plannedRuns: tasks.plannedRuns,
      pausedUntil: tasks.pausedUntil,
    })
    .from(tasks)
    .where(and(eq(tasks.userId, caller.id), eq(tasks.status, 'active'), isNotNull(tasks.nextExecutionAt)))
    .orderBy(asc(tasks.nextExecutionAt));
  return rows.map(({ taskId, taskName, nextExecutionAt, ...plan }) => ({
    taskId,
    taskName,
    nextExecutionAt: nextExecutionAt as Date,
    plan,
    overBudgetUntil: null as number | null,
  }));
}
