import { queryRows, recordset, toInstant, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { type QuotaExceeded, quotaExceededError, toUtcDay } from '../../../platform/limits/quotas.ts';
import { recordUsage, type UsageDelta } from '../../usage/record.ts';
import { selectBudget } from '../budget/budget.ts';
import { type CompletedExecution, type ExecutionResult, getLastCall, permanentFailure } from './execution-result.ts';
import { writeFollowUps } from './follow-ups.ts';

/**
 * Writes results and their consequences in the caller's transaction; returns the completed ids. The claim token is the
 * fence: an execution taken over by another worker, or deleted, is neither completed nor billed.
 */
export async function completeExecutions(tx: Context, results: readonly ExecutionResult[]): Promise<number[]> {
  const completed = await writeResults(tx, results);
  await Promise.all([recordUsage(tx, toUsageDeltas(completed)), writeFollowUps(tx, completed)]);
  return completed.map(({ id }) => id);
}

/** Pending executions fail as `QUOTA_EXCEEDED` and return their quota. */
export async function failOverQuota(tx: Context, refused: readonly { id: number; exceeded: QuotaExceeded }[]) {
  await completeExecutions(
    tx,
    refused.map(({ id, exceeded }) => ({
      id,
      claimToken: null,
      usage: null,
      durationMs: null,
      ...permanentFailure('QUOTA_EXCEEDED', quotaExceededError(exceeded).message),
      isOverBudget: exceeded.resource === 'monthlyBudgetUsd',
    })),
  );
}

type InstantField = 'plannedFor' | 'startedAt' | 'nextExecutionAt' | 'alertingSince';
type WrittenRow = Omit<CompletedExecution, 'result' | 'completedAt' | 'requestedAt' | InstantField> &
  Record<InstantField | 'claimToken', string | null> & { requestedAt: string };

/**
 * Locks each task before its executions, as every other transaction does.
 *
 * Plan: for each result the live execution and its task by primary key; the row moves to the partition of its id.
 */
export async function writeResults(tx: Context, results: readonly ExecutionResult[]): Promise<CompletedExecution[]> {
  if (results.length === 0) return [];
  const completedAt = tx.now();
  const now = completedAt.toISOString();
  const records = results.map((result) => ({
    id: result.id,
    token: result.claimToken,
    status: result.ok ? 'completed' : 'failed',
    result: result.ok ? result.text : null,
    answer: result.ok && result.output !== null ? JSON.stringify(result.output) : null,
    changed: result.ok ? (result.comparison?.changed ?? null) : null,
    changes: result.ok && result.comparison ? JSON.stringify(result.comparison.changes) : null,
    against: result.ok ? (result.comparison?.againstId ?? null) : null,
    citations: result.ok && result.citations ? JSON.stringify(result.citations) : null,
    toolUses: result.usage?.toolUses ?? 0,
    truncated: result.ok && result.isCut === true,
    attempts: result.attempts ? JSON.stringify(result.attempts) : null,
    outcome: result.ok ? result.outcome : null,
    reason: result.ok ? result.outcomeReason : null,
    error: result.ok ? null : result.message,
    code: result.ok ? null : result.errorCode,
    model: result.usage?.model ?? null,
    input: result.usage?.inputTokens ?? null,
    output: result.usage?.outputTokens ?? null,
    estimated: result.usage?.estimated ?? false,
    cost: result.usage?.costUsd ?? null,
    ms: result.durationMs === null ? null : Math.round(result.durationMs),
  }));
  const [, written] = await Promise.all([
    lockTasks(tx, results),
    // A second statement: its snapshot must be taken under the locks, because an execution that ends moves to another table.
    queryRows<WrittenRow>(
      tx.db,
      sql`
    with results as (
      select * from ${recordset('results', records, {
        id: 'int',
        token: 'uuid',
        status: 'text',
        result: 'text',
        answer: 'text',
        changed: 'boolean',
        changes: 'text',
        against: 'int',
        citations: 'text',
        toolUses: 'int',
        truncated: 'boolean',
        attempts: 'text',
        outcome: 'text',
        reason: 'text',
        error: 'text',
        code: 'text',
        model: 'text',
        input: 'int',
        output: 'int',
        estimated: 'boolean',
        cost: 'float8',
        ms: 'int',
      })}
    ), held as (
      select t.id, t.name, t.status, t.recurrence, t.next_execution_at, t.consecutive_failures, t.waiting_failures,
        t.not_done_in_row, t.fallbacks_in_row,
        t.notification_email, t.webhook_url is not null or t.channels <> '{}' as has_webhook, t.notify,
        t.notify <> 'always' or t.watch <> '{}' as reports_changes, t.tools <> '{}' as has_tools, t.max_retries, t.alerts,
        t.alerting_since, t.is_failing_alerted, t.recurrence <> 'once' and t.status = 'active' and t.next_execution_at is null
          and num_nonnulls(t.ends_at, t.max_runs) > 0 as has_no_further_run,
        ${selectBudget} as budget, (select json_build_object('language', u.language, 'timezone', u.timezone)
          from users u where u.id = t.user_id) as owner
      from tasks t
      where t.id in (select e.task_id from executions_live e join results using (id))
    )
    update executions e set status = results.status, archived = true, completed_at = ${now}, slot = null,
      claim_token = null, lease_until = null, tokens_reserved = 0, result = results.result, output = results.answer::json,
      changed = results.changed, changes = results.changes::json, compared_with_id = results.against,
      citations = results.citations::json, tool_uses = results.tool_uses, truncated = results.truncated,
      model_attempts = coalesce(results.attempts::json, e.model_attempts), outcome = results.outcome,
      outcome_reason = results.reason, error = results.error, error_code = results.code, model = results.model, input_tokens = results.input, output_tokens = results.output,
      tokens_estimated = results.estimated, cost_usd = results.cost, processing_time_ms = results.ms,
      queued_at = coalesce(e.queued_at, ${now}),
      usage_day = case when results.token is not null then e.usage_day end
    from results join executions_live was using (id) join held on held.id = was.task_id
    where not e.archived and e.id = results.id and case when results.token is null
      then e.status = 'pending' else e.status = 'running' and e.claim_token = results.token end
    returning e.id, results.token as claim_token, e.task_id, e.user_id, e.trigger, e.via_webhook, e.planned_for,
      e.attempt, e.created_at as requested_at, e.started_at, was.usage_day, was.tokens_reserved, held.name as task_name, held.notification_email,
      held.status as task_status, held.recurrence, held.next_execution_at, held.consecutive_failures, held.waiting_failures,
      held.not_done_in_row, held.fallbacks_in_row, held.has_webhook,
      held.notify, held.reports_changes, held.has_tools, held.max_retries, held.alerts, held.alerting_since, held.is_failing_alerted, held.has_no_further_run, held.budget, held.owner`,
    ),
  ]);
  // Two claims of one execution may end together.
  const toKey = ({ id, claimToken }: { id: number; claimToken: string | null }) => `${id} ${claimToken}`;
  const resultByKey = new Map(results.map((result) => [toKey(result), result]));
  return written.map((row) =>
    Object.assign(row, {
      plannedFor: toInstantOrNull(row.plannedFor),
      requestedAt: toInstant(row.requestedAt),
      startedAt: toInstantOrNull(row.startedAt),
      nextExecutionAt: toInstantOrNull(row.nextExecutionAt),
      alertingSince: toInstantOrNull(row.alertingSince),
      completedAt,
      result: resultByKey.get(toKey(row)) as ExecutionResult,
    }),
  );
}

function lockTasks({ db }: Context, results: readonly ExecutionResult[]) {
  const ids = `{${results.map(({ id }) => id).join(',')}}`;
  return queryRows(
    db,
    sql`
    select from tasks where id in (select task_id from executions_live where id = any(${ids}::int[]))
    order by id for no key update`,
  );
}

export const toUsageDeltas = (completed: readonly CompletedExecution[]): UsageDelta[] =>
  completed.flatMap(({ userId, usageDay, startedAt, completedAt, tokensReserved, result }): UsageDelta[] => {
    // The day of the start, or of the completion if it never started.
    const day = (result.claimToken !== null && usageDay) || toUtcDay(completedAt);
    const count = { userId, day, ...(result.ok ? { completed: 1 } : { failed: 1 }) };
    if (usageDay === null) return [count];
    if (startedAt === null) return [count, { userId, day: usageDay, executions: -1 }];
    const { usage } = getLastCall(result);
    const tokens = usage ? usage.inputTokens + usage.outputTokens : 0;
    const costUsd = usage?.costUsd ?? 0;
    return [count, { userId, day: usageDay, tokens, tokensReserved: -tokensReserved, costUsd }];
  });
