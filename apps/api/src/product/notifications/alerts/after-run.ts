import { describeFallback } from '@carillon/contract/describe-fallback';
import type { ExecutionErrorCode, ExecutionOutcome } from '@carillon/contract/executions';
import type { AlertRules, ModelAttempt } from '@carillon/db';
import { getEffectiveRules } from './overdue-at.ts';
import type { NewAlert } from './record.ts';

/** A run that has just ended, with its task. */
export interface EndedRun {
  id: number;
  userId: number;
  taskId: number;
  taskName: string;
  viaWebhook: boolean;
  plannedFor: Date | null;
  requestedAt: Date;
  completedAt: Date;
  /** Null for the default rules. */
  alerts: AlertRules | null;
  hasWebhook: boolean;
  notificationEmail: string | null;
  /** Since the first alert that no success has followed yet. */
  alertingSince: Date | null;
  /** Whether this row of failures was alerted. */
  isFailingAlerted: boolean;
  /** Of all its calls. */
  costUsd: number;
  result: { durationMs: number | null; attempts?: ModelAttempt[] } & (
    | { ok: true; outcome: ExecutionOutcome | null; outcomeReason: string | null }
    | { ok: false; errorCode: ExecutionErrorCode; message: string }
  );
}

interface RunInRow {
  /** Whether this run is one more failure: no retry follows before the next planned run. One that is not done counts too. */
  isFailure: boolean;
  /** With this run. */
  failuresInRow: number;
  /** Whether this failure has switched a recurring task off. */
  isStopped: boolean;
  /** Answers of fallback models, with this run; 0 if it is none. */
  fallbacksInRow: number;
}

export function decideAlerts(
  run: EndedRun,
  inRow: RunInRow,
): { alerts: NewAlert[]; alertingSince: Date | null; isFailingAlerted: boolean } {
  const rules = getEffectiveRules(run);
  const alerts = [
    findCost(run, rules),
    findDuration(run, rules),
    findFailures(run, rules, inRow),
    findFallbacks(run, rules, inRow),
    findRecovery(run, rules),
  ].filter((alert) => alert !== null);
  const isFailing = alerts.some(({ kind }) => kind === 'task.failing');
  const alertingSince = isSuccess(run) ? null : (run.alertingSince ?? (isFailing ? run.completedAt : null));
  return { alerts, alertingSince, isFailingAlerted: !isSuccess(run) && (run.isFailingAlerted || isFailing) };
}

function findCost(run: EndedRun, { costAboveUsd }: AlertRules): NewAlert | null {
  const { costUsd } = run;
  if (costAboveUsd === undefined || costUsd <= costAboveUsd) return null;
  return {
    ...describeRun(run),
    kind: 'task.expensive',
    title: `A run of the task "${run.taskName}" cost ${formatUsd(costUsd)}`,
    message: `You are alerted of runs that cost more than ${formatUsd(costAboveUsd)}.`,
    data: { ...toEventData(run), costUsd, costAboveUsd },
  };
}

function findDuration(run: EndedRun, { durationAboveMs }: AlertRules): NewAlert | null {
  const durationMs = Math.round(run.result.durationMs ?? 0);
  if (durationAboveMs === undefined || durationMs <= durationAboveMs || isCancelled(run)) return null;
  return {
    ...describeRun(run),
    kind: 'task.slow',
    title: `A run of the task "${run.taskName}" took ${formatSeconds(durationMs)}`,
    message: `You are alerted of runs that take longer than ${formatSeconds(durationAboveMs)}.`,
    data: { ...toEventData(run), durationMs, durationAboveMs },
  };
}

/** Once in each row of failures, and when they stop the task. */
function findFailures(run: EndedRun, rules: AlertRules, inRow: RunInRow): NewAlert | null {
  const { result, taskName } = run;
  const { isFailure, failuresInRow, isStopped } = inRow;
  if (isSuccess(run) || !isFailure || rules.failuresInRow === undefined) return null;
  if (!isStopped && (run.isFailingAlerted || failuresInRow < rules.failuresInRow)) return null;
  const error = result.ok ? (result.outcomeReason ?? '') : result.message;
  const errorCode = result.ok ? null : result.errorCode;
  const data = { ...toEventData(run), failuresInRow, error, errorCode, stopped: isStopped };
  const alert = { ...describeRun(run), kind: 'task.failing' as const, data };
  if (isStopped) {
    return {
      ...alert,
      title: `Task "${taskName}" was stopped after ${failuresInRow} failed runs`,
      message: `It will not run again until you resume it. The last error: ${error}`,
    };
  }
  const verb = result.ok ? 'did not do what it is for' : 'failed';
  return {
    ...alert,
    title: `Task "${taskName}" ${verb}${failuresInRow === 1 ? '' : ` ${failuresInRow} times in a row`}`,
    message: `${result.ok ? 'The last run' : 'The last error'}: ${error}`,
  };
}

function findFallbacks(run: EndedRun, rules: AlertRules, { fallbacksInRow }: RunInRow): NewAlert | null {
  const { attempts = [] } = run.result;
  if (fallbacksInRow === 0 || fallbacksInRow !== rules.fallbacksInRow) return null;
  return {
    ...describeRun(run),
    kind: 'task.degraded',
    title:
      `A fallback model answered the task "${run.taskName}" ${fallbacksInRow === 1 ? '' : `${fallbacksInRow} times in a row`}`.trim(),
    message: describeFallback(attempts),
    data: { ...toEventData(run), fallbacksInRow, modelAttempts: attempts },
  };
}

/** Clears the state without an alert if the rules that raised it were removed. */
function findRecovery(run: EndedRun, { overdueMinutes, failuresInRow }: AlertRules): NewAlert | null {
  const { alertingSince } = run;
  if (!isSuccess(run) || alertingSince === null || (overdueMinutes ?? failuresInRow) === undefined) return null;
  return {
    ...describeRun(run),
    kind: 'task.recovered',
    title: `Task "${run.taskName}" works again`,
    message: `A run has completed. The first alert was sent on ${formatInstant(alertingSince)}.`,
    data: { ...toEventData(run), since: alertingSince },
  };
}

/** It has completed, and nothing says that it did not do what it is for. */
const isSuccess = ({ result }: EndedRun) => result.ok && result.outcome !== 'not_done';

const isCancelled = ({ result }: EndedRun) => !result.ok && result.errorCode === 'CANCELLED';

const describeRun = ({ id, userId, plannedFor, requestedAt, notificationEmail, viaWebhook }: EndedRun) => ({
  userId,
  at: plannedFor ?? requestedAt,
  executionId: id,
  notificationEmail,
  viaWebhook,
});

const toEventData = ({ id, taskId, taskName, result }: EndedRun) => ({
  task: { id: taskId, name: taskName },
  execution: { id, status: result.ok ? ('completed' as const) : ('failed' as const) },
});

const formatUsd = (usd: number) => `$${Number(usd.toPrecision(3))}`;
const formatSeconds = (ms: number) => `${Number((ms / 1000).toPrecision(3))} s`;
const formatInstant = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
