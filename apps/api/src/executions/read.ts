import type { ListExecutionsQuery } from '@carillon/contract/executions';
import { executions, users } from '@carillon/db';
import { and, desc, eq, gte, lt, lte, type SQL } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { findOwn, ownRows } from '../own-rows.ts';
import { decodeIdCursor, splitPage } from '../pages.ts';
import { runFigures } from '../users/figures.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What `withTokens` makes the fields of the specification's "TaskExecution" of. */
export const executionFields = {
  id: executions.id,
  taskId: executions.taskId,
  userId: executions.userId,
  status: executions.status,
  result: executions.result,
  error: executions.error,
  errorCode: executions.errorCode,
  inputTokens: executions.inputTokens,
  outputTokens: executions.outputTokens,
  tokensEstimated: executions.tokensEstimated,
  costUsd: executions.costUsd,
  model: executions.model,
  processingTimeMs: executions.processingTimeMs,
  trigger: executions.trigger,
  plannedFor: executions.plannedFor,
  attempt: executions.attempt,
  retryOfId: executions.retryOfId,
  createdAt: executions.createdAt,
  startedAt: executions.startedAt,
  completedAt: executions.completedAt,
};

/** A user's own executions. */
export const ownExecutions = ownRows(executions, executionFields);

/** An execution of the caller's (specification "TaskExecution"); another user's is not found either. */
export async function getExecution(ctx: Context, caller: Caller, id: number) {
  const row = await findOwn(ctx, caller, ownExecutions, id);
  return row ? withTokens(row) : refuseExecution();
}

export const refuseExecution = (): never => {
  throw new Refusal('not_found', 'There is no such execution.');
};

/** The caller's executions, newest first; pages as those of `listTasks`. `endDate` as a day includes that day (UTC). */
export async function listExecutions(ctx: Context, caller: Caller, query: ListExecutionsQuery) {
  const { taskId, status, limit } = query;
  const before = decodeIdCursor(query.cursor);
  const offset = before === null ? query.offset : 0;
  const matching = and(
    eq(executions.userId, caller.id),
    taskId ? eq(executions.taskId, taskId) : undefined,
    status ? eq(executions.status, status) : undefined,
    query.startDate ? gte(executions.createdAt, new Date(query.startDate)) : undefined,
    query.endDate ? until(query.endDate) : undefined,
  );
  const [rows, total] = await Promise.all([
    ctx.db
      .select(executionFields)
      .from(executions)
      .where(and(matching, before === null ? undefined : lt(executions.id, before)))
      .orderBy(desc(executions.id))
      .limit(limit + 1)
      .offset(offset),
    before === null ? countMatching(ctx, caller, query, matching) : null,
  ]);
  const { page, hasMore, nextCursor } = splitPage(rows, limit, (row) => row.id);
  return { executions: page.map(withTokens), pagination: { total, limit, offset, hasMore, nextCursor } };
}

/** All of a user's runs are on the books; some of them have to be counted. */
async function countMatching(ctx: Context, { id }: Caller, query: ListExecutionsQuery, matching: SQL | undefined) {
  if (query.taskId || query.status || query.startDate || query.endDate) return ctx.db.$count(executions, matching);
  const [figures] = await ctx.db.select(runFigures).from(users).where(eq(users.id, id));
  return figures ? figures.completed + figures.failed + figures.live : 0;
}

function until(endDate: string): SQL {
  const wholeDay = /^\d{4}-\d\d-\d\d$/.test(endDate);
  const at = new Date(endDate);
  // The day's last millisecond, since the day after 9999-12-31 has a year that PostgreSQL does not read.
  return lte(executions.createdAt, wholeDay ? new Date(at.getTime() + DAY_MS - 1) : at);
}

export type ExecutionRow = Pick<typeof executions.$inferSelect, keyof typeof executionFields>;

/** An execution as it is shown. */
export function withTokens({ inputTokens, outputTokens, tokensEstimated, ...row }: ExecutionRow) {
  if (inputTokens === null || outputTokens === null) return { ...row, tokensUsed: null, tokens: null };
  const total = inputTokens + outputTokens;
  const tokens = { input: inputTokens, output: outputTokens, total, estimated: tokensEstimated };
  return { ...row, tokensUsed: total, tokens };
}
