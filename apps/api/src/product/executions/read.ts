import type { ListExecutionsQuery } from '@carillon/contract/executions';
import { DAY_MS } from '@carillon/contract/primitives';
import { executions, tasks } from '@carillon/db';
import { and, asc, desc, eq, gt, gte, lte, type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { executionNotFound } from '../../errors.ts';
import { ownedList } from '../../platform/queries/owned-list.ts';
import { findOwnedRow, ownedRow } from '../../platform/queries/owned-row.ts';
import { isUnseen } from '../../platform/queries/runs.ts';
import { executionTotal } from '../../platform/queries/user-counts.ts';
import { indexRunsOfUser, selectRunsWithWords } from './search.ts';
import { buildTimeline } from './timeline.ts';

export const executionFields = {
  id: executions.id,
  taskId: executions.taskId,
  userId: executions.userId,
  status: executions.status,
  result: executions.result,
  output: executions.output,
  changed: executions.changed,
  changes: executions.changes,
  citations: executions.citations,
  sources: executions.sources,
  toolUses: executions.toolUses,
  truncated: executions.truncated,
  modelAttempts: executions.modelAttempts,
  outcome: executions.outcome,
  outcomeReason: executions.outcomeReason,
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
  taskVersion: executions.taskVersion,
  createdAt: executions.createdAt,
  startedAt: executions.startedAt,
  completedAt: executions.completedAt,
  seenAt: executions.seenAt,
};

/** The further columns that the steps of an execution are derived from. */
export const stepFields = {
  queuedAt: executions.queuedAt,
  runAt: executions.runAt,
  interruptedAt: executions.interruptedAt,
};

const executionRow = ownedRow(executions, { ...executionFields, request: executions.request });

/** With what was sent to the model. Throws 404. */
export async function getExecution(ctx: Context, caller: Caller, id: number) {
  const execution = await findOwnedRow(ctx, caller, executionRow, id);
  if (!execution) throw executionNotFound();
  return execution;
}

/** Shows the task as it is now. Throws 404. */
export async function getExecutionDetails(ctx: Context, caller: Caller, id: number) {
  const [[found], retries] = await Promise.all([
    ctx.db
      .select({
        execution: executionFields,
        steps: stepFields,
        task: { id: tasks.id, name: tasks.name, prompt: tasks.prompt, model: tasks.aiModel },
        request: executions.request,
        asked: { model: tasks.aiModel, attachmentIds: tasks.attachments, changedAt: tasks.updatedAt },
      })
      .from(executions)
      .innerJoin(tasks, eq(tasks.id, executions.taskId))
      .where(and(eq(executions.id, id), eq(executions.userId, caller.id))),
    ctx.db
      .select({
        id: executions.id,
        trigger: executions.trigger,
        attempt: executions.attempt,
        runAt: executions.runAt,
        createdAt: executions.createdAt,
      })
      .from(executions)
      .where(and(eq(executions.retryOfId, id), gt(executions.id, id), eq(executions.userId, caller.id)))
      .orderBy(asc(executions.id)),
  ]);
  if (!found) throw executionNotFound();
  const { task, request, asked, steps } = found;
  const execution = toExecution(found.execution);
  const { model, tokens, costUsd } = execution;
  return {
    ...execution,
    request,
    task,
    logs: buildTimeline({ ...execution, ...steps }, { request, ...asked }, retries),
    metadata: {
      model,
      tokens: tokens && { prompt: tokens.input, completion: tokens.output, total: tokens.total },
      cost: costUsd,
    },
  };
}

const ownExecutions = ownedList({
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

/** An `endDate` without a time includes that UTC day. */
export async function listExecutions(ctx: Context, caller: Caller, query: ListExecutionsQuery) {
  const { taskId, status, outcome, startDate, endDate, unseen, q, ...asked } = query;
  if (q !== undefined) await indexRunsOfUser(ctx, caller.id);
  const filter = and(
    taskId ? eq(executions.taskId, taskId) : undefined,
    status ? eq(executions.status, status) : undefined,
    outcome ? eq(executions.outcome, outcome) : undefined,
    startDate ? gte(executions.createdAt, new Date(startDate)) : undefined,
    endDate ? isUntil(endDate) : undefined,
    unseen ? isUnseen(sql`executions`, sql`${caller.id}`) : undefined,
    q === undefined ? undefined : sql`${executions.id} in (${selectRunsWithWords(caller.id, q)})`,
  );
  const { page, pagination } = await ownExecutions.list(ctx, caller, asked, { filter });
  return { executions: page.map(toExecution), pagination };
}

function isUntil(endDate: string): SQL {
  const isDay = /^\d{4}-\d\d-\d\d$/.test(endDate);
  const at = new Date(endDate);
  // PostgreSQL cannot parse the day after 9999-12-31.
  return lte(executions.createdAt, isDay ? new Date(at.getTime() + DAY_MS - 1) : at);
}

type ExecutionRow = Pick<typeof executions.$inferSelect, keyof typeof executionFields>;

export function toExecution({ inputTokens, outputTokens, tokensEstimated, ...given }: ExecutionRow) {
  const { citations, sources, modelAttempts } = given;
  const row = { ...given, citations: citations ?? [], sources: sources ?? [], modelAttempts: modelAttempts ?? [] };
  if (inputTokens === null || outputTokens === null) return { ...row, tokensUsed: null, tokens: null };
  const total = inputTokens + outputTokens;
  const tokens = { input: inputTokens, output: outputTokens, total, estimated: tokensEstimated };
  return { ...row, tokensUsed: total, tokens };
}
