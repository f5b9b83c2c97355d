import type { ListExecutionsQuery } from '@carillon/contract/executions';
import { executions } from '@carillon/db';
import { and, desc, eq, gte, lte, type SQL } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { executionNotFound } from '../errors.ts';
import { ownedList } from '../queries/owned-list.ts';
import { findOwnedRow, ownedRow } from '../queries/owned-row.ts';
import { executionTotal } from '../stats/user-counts.ts';

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

/** An execution of its owner, by its id. */
export const executionRow = ownedRow(executions, executionFields);

/** An execution of the caller's (specification "TaskExecution"); another user's is not found either. */
export async function getExecution(ctx: Context, caller: Caller, id: number) {
  const row = await findOwnedRow(ctx, caller, executionRow, id);
  if (!row) throw executionNotFound();
  return toExecution(row);
}

const pageOfExecutions = ownedList({
  table: executions,
  total: executionTotal,
  select: (db, { total, condition, limit, offset }) =>
    db
      .select({ row: executionFields, total })
      .from(executions)
      .where(condition)
      .orderBy(desc(executions.id))
      .limit(limit)
      .offset(offset),
});

/** The caller's executions. `endDate` as a day includes that day (UTC). */
export async function listExecutions(ctx: Context, caller: Caller, query: ListExecutionsQuery) {
  const { taskId, status, startDate, endDate, ...asked } = query;
  const filter = and(
    taskId ? eq(executions.taskId, taskId) : undefined,
    status ? eq(executions.status, status) : undefined,
    startDate ? gte(executions.createdAt, new Date(startDate)) : undefined,
    endDate ? until(endDate) : undefined,
  );
  const { page, pagination } = await pageOfExecutions(ctx, caller, asked, filter);
  return { executions: page.map(toExecution), pagination };
}

function until(endDate: string): SQL {
  const wholeDay = /^\d{4}-\d\d-\d\d$/.test(endDate);
  const at = new Date(endDate);
  // The day's last millisecond, since the day after 9999-12-31 has a year that PostgreSQL does not read.
  return lte(executions.createdAt, wholeDay ? new Date(at.getTime() + DAY_MS - 1) : at);
}

export type ExecutionRow = Pick<typeof executions.$inferSelect, keyof typeof executionFields>;

/** An execution as it is shown. */
export function toExecution({ inputTokens, outputTokens, tokensEstimated, ...row }: ExecutionRow) {
  if (inputTokens === null || outputTokens === null) return { ...row, tokensUsed: null, tokens: null };
  const total = inputTokens + outputTokens;
  const tokens = { input: inputTokens, output: outputTokens, total, estimated: tokensEstimated };
  return { ...row, tokensUsed: total, tokens };
}
