import { queryRows, recordset, toInstant, toInstantOrNull, toSnakeCase } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
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

type ColumnOf = (result: ExecutionResult) => unknown;
const ofAnswer =
  (toValue: (answer: ExecutionResult & { ok: true }) => unknown): ColumnOf =>
  (result) =>
    result.ok ? toValue(result) : null;
const ofUsage =
  (toValue: (usage: AiUsage) => unknown): ColumnOf =>
  ({ usage }) =>
    usage && toValue(usage);
const toJson = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));

/** The columns that the end of an execution writes: their type, and their value. */
const RESULT_COLUMNS = {
  status: ['text', ({ ok }) => (ok ? 'completed' : 'failed')],
  result: ['text', ofAnswer(({ text }) => text)],
  output: ['json', ofAnswer(({ output }) => toJson(output))],
  changed: ['boolean', ofAnswer(({ comparison }) => comparison?.changed)],
  changes: ['json', ofAnswer(({ comparison }) => toJson(comparison?.changes))],
  comparedWithId: ['int', ofAnswer(({ comparison }) => comparison?.againstId)],
  citations: ['json', ofAnswer(({ citations }) => toJson(citations))],
  truncated: ['boolean', (result) => result.ok && result.isCut === true],
  outcome: ['text', ofAnswer(({ outcome }) => outcome)],
  outcomeReason: ['text', ofAnswer(({ outcomeReason }) => outcomeReason)],
  error: ['text', (result) => (result.ok ? null : result.message)],
  errorCode: ['text', (result) => (result.ok ? null : result.errorCode)],
  model: ['text', ofUsage(({ model }) => model)],
  inputTokens: ['int', ofUsage(({ inputTokens }) => inputTokens)],
  outputTokens: ['int', ofUsage(({ outputTokens }) => outputTokens)],
  tokensEstimated: ['boolean', ({ usage }) => usage?.estimated ?? false],
  costUsd: ['float8', ofUsage(({ costUsd }) => costUsd)],
  toolUses: ['int', ({ usage }) => usage?.toolUses ?? 0],
  processingTimeMs: ['int', ({ durationMs }) => durationMs && Math.round(durationMs)],
} as const satisfies Record<string, readonly [string, ColumnOf]>;

const COLUMNS = Object.entries(RESULT_COLUMNS);
const RECORD = {
  id: 'int',
  token: 'uuid',
  attempts: 'json',
  ...Object.fromEntries(COLUMNS.map(([name, [type]]) => [name, type])),
};
const ASSIGNMENTS = sql.raw(COLUMNS.map(([name]) => `${toSnakeCase(name)} = results.${toSnakeCase(name)}`).join(', '));

const toRecord = (result: ExecutionResult) => ({
  id: result.id,
  token: result.claimToken,
  attempts: toJson(result.attempts),
  ...Object.fromEntries(COLUMNS.map(([name, [, toValue]]) => [name, toValue(result)])),
});

type InstantField = 'plannedFor' | 'startedAt' | 'nextExecutionAt' | 'alertingSince';
type WrittenRow = Omit<CompletedExecution, 'result' | 'completedAt' | 'requestedAt' | InstantField> &
  Record<InstantField | 'claimToken', string | null> & { requestedAt: string };

/**
 * Locks each task before its executions, as every other transaction does.
 *
 * Plan: for each result the live execution and its task by primary key; the row moves to the partition of its id.
 */
async function writeResults(tx: Context, results: readonly ExecutionResult[]): Promise<CompletedExecution[]> {
  if (results.length === 0) return [];
  const completedAt = tx.now();
  const now = completedAt.toISOString();
  const [, written] = await Promise.all([
    lockTasks(tx, results),
    // A second statement: its snapshot must be taken under the locks, because an execution that ends moves to another table.
    queryRows<WrittenRow>(
      tx.db,
      sql`
    with results as (
      select * from ${recordset('results', results.map(toRecord), RECORD)}
    ), held as (
      select t.id as task_id, t.name as task_name, t.status as task_status, t.recurrence, t.next_execution_at, t.consecutive_failures, t.waiting_failures,
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
    update executions e set ${ASSIGNMENTS}, model_attempts = coalesce(results.attempts, e.model_attempts), source_states = null, archived = true,
      completed_at = ${now}, slot = null, claim_token = null, lease_until = null, tokens_reserved = 0,
      queued_at = coalesce(e.queued_at, ${now}),
      usage_day = case when results.token is not null then e.usage_day end
    from results join executions_live was using (id) join held on held.task_id = was.task_id
    where not e.archived and e.id = results.id and case when results.token is null
      then e.status = 'pending' else e.status = 'running' and e.claim_token = results.token end
    returning e.id, results.token as claim_token, e.user_id, e.trigger, e.via_webhook, e.planned_for, e.attempt,
      e.created_at as requested_at, e.started_at, was.usage_day, was.tokens_reserved, was.source_states, held.*`,
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

const countEnd = (result: ExecutionResult) => {
  if (result.ok) return { completed: 1 };
  return { failed: 1, ...(result.errorCode === 'CANCELLED' && { stopped: 1 }) };
};

const toUsageDeltas = (completed: readonly CompletedExecution[]): UsageDelta[] =>
  completed.flatMap(({ userId, usageDay, startedAt, completedAt, tokensReserved, result }): UsageDelta[] => {
    // The day of the start, or of the completion if it never started.
    const day = (result.claimToken !== null && usageDay) || toUtcDay(completedAt);
    const count = { userId, day, ...countEnd(result) };
    if (usageDay === null) return [count];
    if (startedAt === null) return [count, { userId, day: usageDay, executions: -1 }];
    const { usage } = getLastCall(result);
    const tokens = usage ? usage.inputTokens + usage.outputTokens : 0;
    const costUsd = usage?.costUsd ?? 0;
    return [count, { userId, day: usageDay, tokens, tokensReserved: -tokensReserved, costUsd }];
  });
