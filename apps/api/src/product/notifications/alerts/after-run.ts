import type { ExecutionErrorCode, ExecutionOutcome } from '@carillon/contract/executions';
import type { AlertRules, ModelAttempt } from '@carillon/db';
import type { Reader } from '@carillon/texts';
import { getEffectiveRules } from './overdue.ts';
import type { NewAlert } from './record.ts';

/** A run that has just ended, with its task. */
export interface EndedRun {
  id: number;
  userId: number;
  taskId: number;
  taskName: string;
  /** The reader of its alerts. */
  owner: Reader;
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
  /** How many runs in a row a fallback model answered, this one included. */
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
    data: { ...toEventData(run), costUsd, costAboveUsd },
  };
}

function findDuration(run: EndedRun, { durationAboveMs }: AlertRules): NewAlert | null {
  const durationMs = Math.round(run.result.durationMs ?? 0);
  if (durationAboveMs === undefined || durationMs <= durationAboveMs || isCancelled(run)) return null;
  return {
    ...describeRun(run),
    kind: 'task.slow',
    data: { ...toEventData(run), durationMs, durationAboveMs },
  };
}

/** Once in each row of failures, and when they stop the task. */
function findFailures(run: EndedRun, rules: AlertRules, inRow: RunInRow): NewAlert | null {
  const { result } = run;
  const { isFailure, failuresInRow, isStopped } = inRow;
  if (isSuccess(run) || !isFailure || rules.failuresInRow === undefined) return null;
  if (!isStopped && (run.isFailingAlerted || failuresInRow < rules.failuresInRow)) return null;
  const error = result.ok ? (result.outcomeReason ?? '') : result.message;
  const errorCode = result.ok ? null : result.errorCode;
  const data = { ...toEventData(run), failuresInRow, error, errorCode, stopped: isStopped };
  return { ...describeRun(run), kind: 'task.failing', data };
}

function findFallbacks(run: EndedRun, rules: AlertRules, { fallbacksInRow }: RunInRow): NewAlert | null {
  const { attempts = [] } = run.result;
  if (fallbacksInRow === 0 || fallbacksInRow !== rules.fallbacksInRow) return null;
  const data = { ...toEventData(run), fallbacksInRow, modelAttempts: attempts };
  return { ...describeRun(run), kind: 'task.degraded', data };
}

/** Clears the state without an alert if the rules that raised it were removed. */
function findRecovery(run: EndedRun, { overdueMinutes, failuresInRow }: AlertRules): NewAlert | null {
  const { alertingSince } = run;
  if (!isSuccess(run) || alertingSince === null || (overdueMinutes ?? failuresInRow) === undefined) return null;
  return {
    ...describeRun(run),
    kind: 'task.recovered',
    data: { ...toEventData(run), since: alertingSince },
  };
}

/** It has completed, and nothing says that it did not do what it is for. */
const isSuccess = ({ result }: EndedRun) => result.ok && result.outcome !== 'not_done';

const isCancelled = ({ result }: EndedRun) => !result.ok && result.errorCode === 'CANCELLED';

const describeRun = ({ id, userId, owner, plannedFor, requestedAt, notificationEmail, viaWebhook }: EndedRun) => ({
  userId,
  owner,
  at: plannedFor ?? requestedAt,
  executionId: id,
  notificationEmail,
  viaWebhook,
});

const toEventData = ({ id, taskId, taskName, result }: EndedRun) => ({
  task: { id: taskId, name: taskName },
  execution: { id, status: result.ok ? ('completed' as const) : ('failed' as const) },
});
