import type { ListOccurrencesQuery } from '@carillon/contract/occurrences';
import { executions, occurrences, taskLooks } from '@carillon/db';
import { and, desc, eq, gte, inArray, isNotNull, lt, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { decodeInstantCursor, splitPage } from '../../platform/queries/pages.ts';
import { hasPlannedTrigger } from '../../platform/queries/runs.ts';
import { listDueOccurrences } from '../schedule/next-run.ts';
import { getTask, type TaskRow } from './read.ts';

/** Newest first. Throws 404. */
export async function listOccurrences(ctx: Context, caller: Caller, id: number, query: ListOccurrencesQuery) {
  const before = decodeInstantCursor(query.cursor);
  await getTask(ctx, caller, id);
  const rows = await ctx.db
    .select({
      plannedFor: occurrences.plannedFor,
      fate: occurrences.fate,
      recordedAt: occurrences.recordedAt,
      executionId: executions.id,
      startedAt: executions.startedAt,
      // float8: 25 days in milliseconds exceed a 32-bit integer.
      latenessMs: sql<
        number | null
      >`(extract(epoch from ${executions.startedAt} - ${occurrences.plannedFor}) * 1000)::float8`,
    })
    .from(occurrences)
    .leftJoin(
      executions,
      and(
        eq(executions.taskId, occurrences.taskId),
        eq(executions.plannedFor, occurrences.plannedFor),
        hasPlannedTrigger('executions'),
      ),
    )
    .where(and(eq(occurrences.taskId, id), before ? lt(occurrences.plannedFor, before) : undefined))
    .orderBy(desc(occurrences.plannedFor))
    .limit(query.limit + 1);
  const { page, nextCursor } = splitPage(rows, query.limit, (row) => row.plannedFor.toISOString());
  return { occurrences: page, pagination: { limit: query.limit, nextCursor } };
}

/** For occurrences that no longer run because the schedule or status changes. */
export async function markMissed(ctx: Context, task: TaskRow, now: Date): Promise<void> {
  let from = task.nextExecutionAt;
  while (from !== null && from <= now) {
    const { missed, latest, next } = listDueOccurrences(task, from, now);
    const planned = latest === null ? missed : [...missed, latest];
    await ctx.db
      .insert(occurrences)
      .values(planned.map((plannedFor) => ({ taskId: task.id, plannedFor, fate: 'missed' as const, recordedAt: now })))
      .onConflictDoNothing();
    from = next;
  }
}

/** Also one that waits for a look at its sources. */
export async function hasLiveRun(ctx: Context, { id, userId }: Pick<TaskRow, 'id' | 'userId'>): Promise<boolean> {
  const [live] = await ctx.db
    .select({ id: executions.id })
    .from(executions)
    .where(
      and(
        eq(executions.archived, false),
        eq(executions.userId, userId),
        eq(executions.taskId, id),
        inArray(executions.status, ['pending', 'running']),
      ),
    )
    .limit(1);
  return (
    live !== undefined ||
    (await ctx.db.$count(taskLooks, and(eq(taskLooks.id, id), isNotNull(taskLooks.waitingSince)))) > 0
  );
}

/** For a task that is planned anew from its next run on: that run, and those after it, are to run. */
export async function forgetSkips({ db }: Context, { id, nextExecutionAt }: TaskRow): Promise<void> {
  if (nextExecutionAt === null) return;
  const { taskId, plannedFor, fate } = occurrences;
  await db
    .delete(occurrences)
    .where(and(eq(taskId, id), gte(plannedFor, nextExecutionAt), eq(fate, 'skipped_by_user')));
}
