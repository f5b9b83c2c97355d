import type { ListOccurrencesQuery } from '@carillon/contract/occurrences';
import type { ListTasksQuery } from '@carillon/contract/tasks';
import { executions, occurrences, tasks, users } from '@carillon/db';
import { and, desc, eq, ilike, lt, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { taskNotFound } from '../errors.ts';
import { containsPattern } from '../queries/like-pattern.ts';
import { ownedList } from '../queries/owned-list.ts';
import { findOwnedRow, ownedRow } from '../queries/owned-row.ts';
import { decodeInstantCursor, splitPage } from '../queries/pages.ts';

/** The fields of the specification's "Task". */
export const taskFields = {
  id: tasks.id,
  userId: tasks.userId,
  name: tasks.name,
  description: tasks.description,
  prompt: tasks.prompt,
  scheduledFor: tasks.scheduledFor,
  nextExecutionAt: tasks.nextExecutionAt,
  recurrence: tasks.recurrence,
  recurrencePattern: tasks.recurrencePattern,
  timezone: tasks.timezone,
  aiModel: tasks.aiModel,
  maxTokens: tasks.maxTokens,
  temperature: tasks.temperature,
  status: tasks.status,
  executionCount: tasks.executionCount,
  lastExecutionAt: tasks.lastExecutionAt,
  attachments: tasks.attachmentIds,
  webhookUrl: tasks.webhookUrl,
  notificationEmail: tasks.notificationEmail,
  createdAt: tasks.createdAt,
  updatedAt: tasks.updatedAt,
};

/** A task of its owner, by its id. */
export const taskRow = ownedRow(tasks, taskFields);

/** A task of the caller's; another user's is not found either (decisions §4). */
export async function getTask(ctx: Context, caller: Caller, id: number) {
  const task = await findOwnedRow(ctx, caller, taskRow, id);
  if (!task) throw taskNotFound();
  return task;
}

/** A task as `getTask` returns it. */
export type TaskRow = Awaited<ReturnType<typeof getTask>>;

const pageOfTasks = ownedList({
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

/** The caller's tasks; `search` finds part of the name. */
export async function listTasks(ctx: Context, caller: Caller, { status, search, ...query }: ListTasksQuery) {
  const filter = and(
    status ? eq(tasks.status, status) : undefined,
    search ? ilike(tasks.name, containsPattern(search)) : undefined,
  );
  const { page, pagination } = await pageOfTasks(ctx, caller, query, filter);
  return { tasks: page, pagination };
}

/** What became of each planned instant of a task of the caller's, newest first (decisions §5). */
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
      // Not as a 32-bit integer: an outage of 25 days is more milliseconds than it holds.
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
        eq(executions.trigger, 'schedule'),
      ),
    )
    .where(and(eq(occurrences.taskId, id), before ? lt(occurrences.plannedFor, before) : undefined))
    .orderBy(desc(occurrences.plannedFor))
    .limit(query.limit + 1);
  const { page, nextCursor } = splitPage(rows, query.limit, (row) => row.plannedFor.toISOString());
  return { occurrences: page, pagination: { limit: query.limit, nextCursor } };
}
