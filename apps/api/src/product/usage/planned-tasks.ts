import { tasks } from '@carillon/db';
import { and, asc, eq, inArray, isNotNull } from 'drizzle-orm';
import type { Context } from '../../context.ts';

/** The active tasks of the users that have a next run, of which a plan allows a few. */
export async function listPlannedTasks({ db }: Context, userIds: readonly number[]) {
  if (userIds.length === 0) return [];
  const rows = await db
    .select({
      userId: tasks.userId,
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
    .where(and(inArray(tasks.userId, [...userIds]), eq(tasks.status, 'active'), isNotNull(tasks.nextExecutionAt)))
    .orderBy(asc(tasks.nextExecutionAt));
  return rows.map(({ userId, taskId, taskName, nextExecutionAt, ...plan }) => ({
    userId,
    taskId,
    taskName,
    nextExecutionAt: nextExecutionAt as Date,
    plan,
    overBudgetUntil: null as number | null,
  }));
}
