import type { EventData } from '@carillon/contract/webhooks/events';
import { recordset } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { type Event, recordEvents } from '../../../platform/events/outbox.ts';
import { afterCommit } from '../../../transaction.ts';
import { decideAlerts } from '../../notifications/alerts/after-run.ts';
import { overdueAtSql } from '../../notifications/alerts/overdue-at.ts';
import { type NewAlert, recordAlerts } from '../../notifications/alerts/record.ts';
import { notifyUsers } from '../../notifications/write.ts';
import { addMonthCost, type MonthCost, sumMonthCosts } from '../budget/costs.ts';
import { notifyBudgets } from '../budget/notices.ts';
import { findEndedTasks, recordFates } from '../planning/record-fates.ts';
import { digestText, isWanted } from '../result/last-success.ts';
import {
  type CompletedExecution,
  getLastCall,
  getTotalUsd,
  isCancelled,
  isFallback,
  isNotDone,
  isOverBudget,
  type TaskStatus,
} from './execution-result.ts';
import { mailResults } from './mail-results.ts';
import { countWaitingFailures, findRetryTime, insertRetries } from './retries.ts';

/** A recurring task fails after so many failed executions in a row. */
const MAX_CONSECUTIVE_FAILURES = 5;

interface FollowUp {
  completed: CompletedExecution;
  retryAt: Date | null;
  taskStatus: TaskStatus;
  consecutiveFailures: number;
  waitingFailures: number;
  notDoneInRow: number;
  fallbacksInRow: number;
  alertingSince: Date | null;
  isFailingAlerted: boolean;
  alerts: NewAlert[];
}

export async function writeFollowUps(tx: Context, completed: readonly CompletedExecution[]): Promise<void> {
  if (completed.length === 0) return;
  const byTask = new Map<number, FollowUp>();
  const ended = await findEndedTasks(
    tx,
    completed.filter(({ hasNoFurtherRun }) => hasNoFurtherRun).map(({ taskId }) => taskId),
  );
  const followUps = completed.map((execution) => {
    // The first execution of a task in the batch may have changed its state.
    const earlier = byTask.get(execution.taskId);
    const current = earlier ? { ...execution, ...getTaskState(earlier) } : execution;
    const decided = decideFollowUp(tx, current, ended.has(execution.taskId));
    const waitingFailures = countWaitingFailures(current, decided.retryAt);
    const rows = countRows(current, decided.retryAt);
    const failuresInRow = rows.notDoneInRow + decided.consecutiveFailures + waitingFailures;
    const isFailure = failuresInRow > current.notDoneInRow + current.consecutiveFailures + current.waitingFailures;
    const fallbacksInRow = isFallback(current.result) ? rows.fallbacksInRow : 0;
    const alerted = decideAlerts(
      { ...current, costUsd: getTotalUsd(current.result) },
      { isFailure, failuresInRow, isStopped: isStopped(current, decided.taskStatus), fallbacksInRow },
    );
    const followUp = { ...decided, waitingFailures, ...rows, ...alerted };
    byTask.set(execution.taskId, followUp);
    return followUp;
  });
  const costs = sumMonthCosts(completed);
  const billed = completed.filter(({ startedAt, usageDay }) => startedAt !== null && usageDay !== null);
  const final = followUps.filter(({ retryAt }) => retryAt === null).map((followUp) => followUp.completed);
  const mailed = final.filter(({ result }) => !isCancelled(result));
  afterCommit(tx, () => {
    for (const { result } of completed) {
      tx.metrics.executionEnded({ outcome: result, durationMs: result.durationMs });
    }
    for (const { result } of billed) {
      const { usage } = getLastCall(result);
      if (usage) tx.metrics.usageRecorded(usage);
    }
  });
  recordEvents(tx, followUps.flatMap(buildEvents));
  // One connection runs these in order, in one round trip.
  await Promise.all([
    insertUsageRecords(tx, billed),
    insertRetries(tx, followUps),
    updateTasks(tx, [...byTask.values()], costs),
    markUpdated(tx, followUps),
    recordFates(tx, completed),
    notifyOwners(tx, followUps),
    mailResults(tx, mailed),
    notifyBudgets(tx, completed, costs),
    recordAlerts(
      tx,
      followUps.flatMap(({ alerts }) => alerts),
    ),
  ]);
}

/** What an execution of the same task in the batch has changed. */
const getTaskState = ({ completed: _completed, retryAt: _retryAt, alerts: _alerts, ...state }: FollowUp) => state;

const isStopped = ({ taskStatus, recurrence }: CompletedExecution, after: TaskStatus) =>
  recurrence !== 'once' && after === 'failed' && taskStatus !== 'failed';

/** Runs in a row that were not done, with the failures before them, and that a fallback model answered. */
function countRows(
  { result, consecutiveFailures, waitingFailures, ...before }: CompletedExecution,
  retryAt: Date | null,
) {
  if (!result.ok) {
    const isSkipped = retryAt !== null || isCancelled(result) || isOverBudget(result);
    return { notDoneInRow: before.notDoneInRow, fallbacksInRow: isSkipped ? before.fallbacksInRow : 0 };
  }
  const failures = before.notDoneInRow + consecutiveFailures + waitingFailures;
  return {
    notDoneInRow: isNotDone(result) ? failures + 1 : 0,
    fallbacksInRow: isFallback(result) ? before.fallbacksInRow + 1 : 0,
  };
}

function decideFollowUp(
  tx: Context,
  completed: CompletedExecution,
  hasEnded: boolean,
): Pick<FollowUp, 'completed' | 'retryAt' | 'taskStatus' | 'consecutiveFailures'> {
  const { result, recurrence, nextExecutionAt, plannedFor, taskStatus, consecutiveFailures } = completed;
  // The planned execution of a `once` task, or one on demand after it failed.
  const isOnly = recurrence === 'once' && nextExecutionAt === null && (plannedFor !== null || taskStatus === 'failed');
  const isLast = isOnly || hasEnded;
  if (result.ok) {
    return { completed, retryAt: null, consecutiveFailures: 0, taskStatus: isLast ? 'completed' : taskStatus };
  }
  const retryAt = findRetryTime(tx, completed);
  if (retryAt) return { completed, retryAt, taskStatus, consecutiveFailures };
  if (isCancelled(result) || isOverBudget(result)) {
    return { completed, retryAt: null, consecutiveFailures, taskStatus: isLast ? 'failed' : taskStatus };
  }
  const failures = consecutiveFailures + 1;
  const isExhausted = taskStatus === 'active' && recurrence !== 'once' && failures >= MAX_CONSECUTIVE_FAILURES;
  return {
    completed,
    retryAt: null,
    consecutiveFailures: failures,
    taskStatus: isLast || isExhausted ? 'failed' : taskStatus,
  };
}

async function insertUsageRecords({ db }: Context, billed: readonly CompletedExecution[]) {
  if (billed.length === 0) return;
  const records = billed.map(({ id, userId, usageDay, completedAt, result }) => ({
    userId,
    executionId: id,
    day: usageDay,
    at: completedAt,
    ...toLedgerCall(getLastCall(result)),
  }));
  await db.execute(sql`
    insert into usage_records (user_id, execution_id, source, day, executions, model, provider, input_tokens, output_tokens,
      estimated, cost_usd, tool_uses, tool_cost_usd, created_at)
    select user_id, execution_id, source, day, 1, model, provider, input, output, estimated, cost, tool_uses, tool_cost, at
    from ${recordset('r', records, {
      userId: 'int',
      executionId: 'int',
      source: 'text',
      day: 'date',
      model: 'text',
      provider: 'text',
      input: 'int',
      output: 'int',
      estimated: 'boolean',
      cost: 'float8',
      toolUses: 'int',
      toolCost: 'float8',
      at: 'timestamptz',
    })}`);
}

const toLedgerCall = ({ source, usage }: ReturnType<typeof getLastCall>) => ({
  source,
  model: usage?.model ?? null,
  provider: usage?.provider ?? null,
  input: usage?.inputTokens ?? 0,
  output: usage?.outputTokens ?? 0,
  estimated: usage?.estimated ?? false,
  cost: usage?.costUsd ?? 0,
  toolUses: usage?.toolUses ?? 0,
  toolCost: usage?.toolCostUsd ?? 0,
});

/** `followUps` has one of each task. */
async function updateTasks(
  { db, now }: Context,
  followUps: readonly FollowUp[],
  costs: ReadonlyMap<number, MonthCost>,
) {
  const changes = followUps.map(({ completed, taskStatus, consecutiveFailures, waitingFailures, ...followUp }) => {
    const { id, taskId, result } = completed;
    const cost = costs.get(taskId);
    return {
      id: taskId,
      status: taskStatus,
      failures: consecutiveFailures,
      waiting: waitingFailures,
      notDone: followUp.notDoneInRow,
      fallbacks: followUp.fallbacksInRow,
      ms: result.ok && result.durationMs !== null ? Math.round(result.durationMs) : null,
      success: result.ok ? id : null,
      at: completed.completedAt,
      digest: result.ok ? digestText(result.text) : null,
      month: cost?.month ?? null,
      cost: cost?.usd ?? 0,
      alertingSince: followUp.alertingSince,
      isFailingAlerted: followUp.isFailingAlerted,
    };
  });
  await db.execute(sql`
    update tasks t set status = c.status, consecutive_failures = c.failures, waiting_failures = c.waiting,
      not_done_in_row = c.not_done, fallbacks_in_row = c.fallbacks,
      last_duration_ms = coalesce(c.ms, t.last_duration_ms),
      last_success_id = coalesce(c.success, t.last_success_id),
      last_success_at = case when c.success is null then t.last_success_at else c.at end,
      last_success_digest = coalesce(c.digest, t.last_success_digest),
      ${addMonthCost(sql`c.month`, sql`c.cost`)},
      next_execution_at = case when c.status = 'active' then t.next_execution_at end,
      overdue_at = case when c.status = 'active' then ${overdueAtSql(sql`t`, sql`t.next_execution_at`, now())} end,
      alerting_since = c.alerting_since, is_failing_alerted = c.is_failing_alerted
    from ${recordset('c', changes, {
      id: 'int',
      status: 'text',
      failures: 'int',
      waiting: 'int',
      notDone: 'int',
      fallbacks: 'int',
      ms: 'int',
      success: 'int',
      at: 'timestamptz',
      digest: 'text',
      month: 'text',
      cost: 'float8',
      alertingSince: 'timestamptz',
      isFailingAlerted: 'boolean',
    })}
    where t.id = c.id`);
}

/** A separate statement: naming the column increases the revision of every task that the statement updates. */
async function markUpdated({ db }: Context, followUps: readonly FollowUp[]) {
  const changed = followUps
    .filter(({ completed, taskStatus }) => taskStatus !== completed.taskStatus)
    .map(({ completed }) => ({ id: completed.taskId, at: completed.completedAt }));
  if (changed.length === 0) return;
  await db.execute(sql`
    update tasks t set updated_at = greatest(t.updated_at, c.at)
    from ${recordset('c', changed, { id: 'int', at: 'timestamptz' })} where t.id = c.id`);
}

function notifyOwners(tx: Context, followUps: readonly FollowUp[]) {
  const failed = followUps.filter(
    ({ completed, taskStatus, alerts }) =>
      taskStatus === 'failed' &&
      completed.taskStatus !== 'failed' &&
      !isCancelled(completed.result) &&
      !alerts.some((alert) => alert.kind === 'task.failing' && alert.data.stopped),
  );
  return notifyUsers(
    tx,
    failed.map(({ completed: { userId, owner, taskName, result } }) => {
      const { notices } = getTexts(owner.language);
      const message = notices.stoppedText(result.ok ? '' : result.message);
      return { userId, kind: 'task.failed', title: notices.failed(taskName, 1), message };
    }),
  );
}

function buildEvents({ completed, retryAt, taskStatus, alerts }: FollowUp): Event[] {
  const { id, userId, viaWebhook, taskId, taskName, result, startedAt, completedAt, reportsChanges, hasTools } =
    completed;
  const task = { id: taskId, name: taskName, status: taskStatus };
  const processingTimeMs = result.durationMs === null ? null : Math.round(result.durationMs);
  if (result.ok) {
    const input = result.usage?.inputTokens ?? 0;
    const output = result.usage?.outputTokens ?? 0;
    const { comparison } = result;
    const difference = comparison && { changed: comparison.changed, changes: comparison.changes };
    const build = (reported: typeof difference): EventData<'task.completed'> => ({
      task,
      execution: {
        id,
        status: 'completed',
        result: result.text,
        tokensUsed: { input, output, total: input + output },
        processingTimeMs: processingTimeMs ?? 0,
        startedAt: (startedAt ?? completedAt).toISOString(),
        completedAt: completedAt.toISOString(),
        ...(hasTools && { citations: result.citations ?? [], toolUses: result.usage?.toolUses ?? 0 }),
        ...(result.output !== null && { output: result.output }),
        ...(result.outcome !== null && { outcome: result.outcome }),
        ...(result.outcomeReason !== null && { outcomeReason: result.outcomeReason }),
        ...reported,
      },
    });
    const data = build(reportsChanges ? difference : null);
    const event = { userId, taskId, viaWebhook, skipsTaskWebhook: !isWanted(completed), isCut: result.isCut === true };
    const completions = (['task.completed', 'execution.completed'] as const).map((kind) => ({ ...event, kind, data }));
    if (!difference?.changed) return completions;
    return [...completions, { ...event, kind: 'task.changed', data: reportsChanges ? data : build(difference) }];
  }
  const data: EventData<'task.failed'> = {
    task,
    execution: {
      id,
      status: 'failed',
      error: result.message,
      errorCode: result.errorCode,
      startedAt: startedAt?.toISOString() ?? null,
      failedAt: completedAt.toISOString(),
      processingTimeMs,
    },
    retryScheduled: retryAt !== null,
    nextRetryAt: retryAt?.toISOString() ?? null,
  };
  // An alert of this failure tells the channels of the task the same, and more.
  const isAlerted = !viaWebhook && alerts.some(({ kind }) => kind === 'task.failing');
  const skipsChannels = retryAt !== null || isCancelled(result) || isAlerted;
  return [
    { kind: 'task.failed', userId, taskId, viaWebhook, data, skipsChannels },
    { kind: 'execution.failed', userId, taskId, viaWebhook, data, skipsChannels },
  ];
}
