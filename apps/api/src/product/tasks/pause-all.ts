import { tasks } from '@carillon/db';
import { and, asc, eq, isNull, lt, or, type SQL } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';

/** The ids of the caller's active tasks that are not paused until `until` or later. */
export const listTasksBefore = (ctx: Context, caller: Caller, until: Date) =>
  listActiveTasks(ctx, caller, or(isNull(tasks.pausedUntil), lt(tasks.pausedUntil, until)));

/** The ids of the caller's active tasks that are paused until exactly `until`. */
export const listTasksPausedUntil = (ctx: Context, caller: Caller, until: Date) =>
  listActiveTasks(ctx, caller, eq(tasks.pausedUntil, until));

async function listActiveTasks({ db }: Context, caller: Caller, condition: SQL | undefined): Promise<number[]> {
  const found = await db
    .select({ id: tasks.id })
    .from(tasks)
    .where(and(eq(tasks.userId, caller.id), eq(tasks.status, 'active'), condition))
    .orderBy(asc(tasks.id));
  return found.map(({ id }) => id);
}
