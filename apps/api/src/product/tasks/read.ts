import type { ListTasksQuery } from '@carillon/contract/tasks';
import { tasks, users } from '@carillon/db';
import { and, desc, eq, ilike } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { taskNotFound } from '../../errors.ts';
import { ownedList } from '../../platform/queries/owned-list.ts';
import { findOwnedRow, ownedRow } from '../../platform/queries/owned-row.ts';
import { containsPattern } from '../../platform/queries/pages.ts';
import { settingColumns } from './settings.ts';

export const taskFields = {
  id: tasks.id,
  userId: tasks.userId,
  ...settingColumns,
  nextExecutionAt: tasks.nextExecutionAt,
  status: tasks.status,
  executionCount: tasks.executionCount,
  plannedRuns: tasks.plannedRuns,
  lastExecutionAt: tasks.lastExecutionAt,
  createdAt: tasks.createdAt,
  updatedAt: tasks.updatedAt,
  version: tasks.version,
  usedVersion: tasks.usedVersion,
  revision: tasks.revision,
};

export const taskRow = ownedRow(tasks, taskFields);

/** Throws 404. */
export async function getTask(ctx: Context, caller: Caller, id: number) {
  const task = await findOwnedRow(ctx, caller, taskRow, id);
  if (!task) throw taskNotFound();
  return task;
}

export type TaskRow = Awaited<ReturnType<typeof getTask>>;

const ownTasks = ownedList({
  table: tasks,
  total: users.taskCount,
  select: (db, { total, condition, limit, offset }) =>
    db
      .select({ row: taskFields, total })
      .from(tasks)
      .where(condition)
      .orderBy(desc(tasks.id))
      .limit(limit)
      .offset(offset),
});

/** `search` matches a part of the name. */
export async function listTasks(ctx: Context, caller: Caller, { status, search, ...query }: ListTasksQuery) {
  const filter = and(
    status ? eq(tasks.status, status) : undefined,
    search ? ilike(tasks.name, containsPattern(search)) : undefined,
  );
  const { page, pagination } = await ownTasks.list(ctx, caller, query, { filter });
  return { tasks: page, pagination };
}
