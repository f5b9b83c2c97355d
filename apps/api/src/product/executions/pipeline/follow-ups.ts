import type { Context } from '../../../context.ts';
import { recordEvents } from '../../../platform/events/outbox.ts';
import { afterCommit } from '../../../transaction.ts';
import { decideAlerts } from '../../notifications/alerts/after-run.ts';
import { recordAlerts } from '../../notifications/alerts/record.ts';
import { sumMonthCosts } from '../budget/costs.ts';
import { notifyBudgets } from '../budget/notices.ts';
import { findEndedTasks, recordFates } from '../planning/due-tasks.ts';
import { type CompletedSource, storeCompletedSources } from '../sources/states.ts';
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
import {
  buildEvents,
  type FollowUp,
  insertRetries,
  insertUsageRecords,
  markUpdated,
  notifyOwners,
  updateTasks,
} from './follow-up-rows.ts';
import { mailResults } from './mail-results.ts';

/** A recurring task fails after so many failed executions in a row. */
const MAX_CONSECUTIVE_FAILURES = 5;

/** Decides what follows from the ends of executions, then writes it. */
export async function writeFollowUps(tx: Context, completed: readonly CompletedExecution[]): Promise<void> {
  if (completed.length === 0) return;
  const ended = await findEndedTasks(
    tx,
    completed.filter(({ hasNoFurtherRun }) => hasNoFurtherRun).map(({ taskId }) => taskId),
  );
  const followUps = decideFollowUps(tx, completed, ended);
  const costs = sumMonthCosts(completed);
  const billed = completed.filter(({ startedAt, usageDay }) => startedAt !== null && usageDay !== null);
  const final = followUps.filter(({ retryAt }) => retryAt === null).map((followUp) => followUp.completed);
  afterCommit(tx, () => countEnds(tx, completed, billed));
  recordEvents(tx, followUps.flatMap(buildEvents));
  // One connection runs these in order, in one round trip.
  await Promise.all([
    insertUsageRecords(tx, billed),
    insertRetries(tx, followUps),
    updateTasks(tx, followUps, costs),
    storeCompletedSources(tx, completed.flatMap(listCompletedSources)),
    markUpdated(tx, followUps),
    recordFates(tx, completed),
    notifyOwners(tx, followUps),
    mailResults(
      tx,
      final.filter(({ result }) => !isCancelled(result)),
    ),
    notifyBudgets(tx, completed, costs),
    recordAlerts(
      tx,
      followUps.flatMap(({ alerts }) => alerts),
    ),
  ]);
}

const listCompletedSources = ({ taskId, result, sourceStates }: CompletedExecution): CompletedSource[] =>
  result.ok
    ? Object.entries(sourceStates ?? {}).map(([name, state]) => ({ taskId, name, entries: null, ...state }))
    : [];

function countEnds(
  { metrics }: Context,
  completed: readonly CompletedExecution[],
  billed: readonly CompletedExecution[],
) {
  for (const { result } of completed) metrics.executionEnded({ outcome: result, durationMs: result.durationMs });
  for (const { result } of billed) {
    const { usage } = getLastCall(result);
    if (usage) metrics.usageRecorded(usage);
  }
}

/** In their order: the first execution of a task in the batch may change its state. */
function decideFollowUps(
  tx: Context,
  completed: readonly CompletedExecution[],
  ended: ReadonlySet<number>,
): FollowUp[] {
  const byTask = new Map<number, FollowUp>();
  return completed.map((execution) => {
    const earlier = byTask.get(execution.taskId);
    const current = earlier ? { ...execution, ...getTaskState(earlier) } : execution;
    const decided = decideStatus(tx, current, ended.has(execution.taskId));
    const waitingFailures = countWaitingFailures(current, decided.retryAt);
    const rows = countRows(current, decided.retryAt);
    const failuresInRow = rows.notDoneInRow + decided.consecutiveFailures + waitingFailures;
    const isFailure = failuresInRow > current.notDoneInRow + current.consecutiveFailures + current.waitingFailures;
    const fallbacksInRow = isFallback(current.result) ? rows.fallbacksInRow : 0;
    const alerted = decideAlerts(
      { ...current, costUsd: getTotalUsd(current.result) },
      { isFailure, failuresInRow, isStopped: isStopped(current, decided.taskStatus), fallbacksInRow },
    );
    const followUp = { completed: current, ...decided, waitingFailures, ...rows, ...alerted };
    byTask.set(execution.taskId, followUp);
    return followUp;
  });
}

/** When a failed execution is retried; null if it is not. */
function findRetryTime({ config }: Context, completed: CompletedExecution) {
  const { result, attempt, maxRetries, taskStatus, completedAt } = completed;
  const delayMs = attempt > maxRetries ? undefined : config.executionRetryDelaysMs[attempt - 1];
  if (result.ok || !result.retryable || delayMs === undefined || taskStatus === 'paused') return null;
  return new Date(completedAt.getTime() + Math.max(delayMs, result.retryAfterMs ?? 0));
}

/** Alerts also count failures whose retry is due after the next planned run. */
function countWaitingFailures({ result, nextExecutionAt, waitingFailures }: CompletedExecution, retryAt: Date | null) {
  if (result.ok) return 0;
  return retryAt !== null && nextExecutionAt !== null && retryAt > nextExecutionAt
    ? waitingFailures + 1
    : waitingFailures;
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

function decideStatus(
  tx: Context,
  completed: CompletedExecution,
  hasEnded: boolean,
): Pick<FollowUp, 'retryAt' | 'taskStatus' | 'consecutiveFailures'> {
  const { result, recurrence, nextExecutionAt, plannedFor, taskStatus, consecutiveFailures } = completed;
  // The planned execution of a `once` task, or one on demand after it failed.
  const isOnly = recurrence === 'once' && nextExecutionAt === null && (plannedFor !== null || taskStatus === 'failed');
  const isLast = isOnly || hasEnded;
  if (result.ok) {
    return { retryAt: null, consecutiveFailures: 0, taskStatus: isLast ? 'completed' : taskStatus };
  }
  const retryAt = findRetryTime(tx, completed);
  if (retryAt) return { retryAt, taskStatus, consecutiveFailures };
  if (isCancelled(result) || isOverBudget(result)) {
    return { retryAt: null, consecutiveFailures, taskStatus: isLast ? 'failed' : taskStatus };
  }
  const failures = consecutiveFailures + 1;
  const isExhausted = taskStatus === 'active' && recurrence !== 'once' && failures >= MAX_CONSECUTIVE_FAILURES;
  return {
    retryAt: null,
    consecutiveFailures: failures,
    taskStatus: isLast || isExhausted ? 'failed' : taskStatus,
  };
}
