import type { ExecutionErrorCode } from '@carillon/contract/executions';
import type { AlertRules } from '@carillon/db';
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
  result: { usage: { costUsd: number } | null; durationMs: number | null } & (
    | { ok: true }
    | { ok: false; errorCode: ExecutionErrorCode; message: string }
  );
}

interface Outcome {
  /** Whether this run is one more failure: no retry follows before the next planned run. */
  isFailure: boolean;
  /** With this run. */
  failuresInRow: number;
  /** Whether this failure has switched a recurring task off. */
  isStopped: boolean;
}

export function decideAlerts(
  run: EndedRun,
  outcome: Outcome,
): { alerts: NewAlert[]; alertingSince: Date | null; isFailingAlerted: boolean } {
  const rules = getEffectiveRules(run);
  const alerts = [
    findCost(run, rules),
    findDuration(run, rules),
    findFailures(run, rules, outcome),
    findRecovery(run, rules),
  ].filter((alert) => alert !== null);
  const isFailing = alerts.some(({ kind }) => kind === 'task.failing');
  const alertingSince = run.result.ok ? null : (run.alertingSince ?? (isFailing ? run.completedAt : null));
  return { alerts, alertingSince, isFailingAlerted: !run.result.ok && (run.isFailingAlerted || isFailing) };
}

function findCost(run: EndedRun, { costAboveUsd }: AlertRules): NewAlert | null {
  const costUsd = run.result.usage?.costUsd ?? 0;
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
function findFailures(run: EndedRun, rules: AlertRules, outcome: Outcome): NewAlert | null {
  const { result, taskName } = run;
  const { isFailure, failuresInRow, isStopped } = outcome;
  if (result.ok || !isFailure || rules.failuresInRow === undefined) return null;
  if (!isStopped && (run.isFailingAlerted || failuresInRow < rules.failuresInRow)) return null;
  const { message: error, errorCode } = result;
  const data = { ...toEventData(run), failuresInRow, error, errorCode, stopped: isStopped };
  const alert = { ...describeRun(run), kind: 'task.failing' as const, data };
  if (isStopped) {
    return {
      ...alert,
      title: `Task "${taskName}" was stopped after ${failuresInRow} failed runs`,
      message: `It will not run again until you resume it. The last error: ${error}`,
    };
  }
  return {
    ...alert,
    title: `Task "${taskName}" failed${failuresInRow === 1 ? '' : ` ${failuresInRow} times in a row`}`,
    message: `The last error: ${error}`,
  };
}

/** Clears the state without an alert if the rules that raised it were removed. */
function findRecovery(run: EndedRun, { overdueMinutes, failuresInRow }: AlertRules): NewAlert | null {
  const { result, alertingSince } = run;
  if (!result.ok || alertingSince === null || (overdueMinutes ?? failuresInRow) === undefined) return null;
  return {
    ...describeRun(run),
    kind: 'task.recovered',
    title: `Task "${run.taskName}" works again`,
    message: `A run has completed. The first alert was sent on ${formatInstant(alertingSince)}.`,
    data: { ...toEventData(run), since: alertingSince },
  };
}

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
