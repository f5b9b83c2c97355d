import type { executions } from '@carillon/db';
import type { ErrorCode } from '../../lib/ai/errors.ts';
import { isPlannedTrigger } from '../../platform/queries/runs.ts';

type ExecutionRow = typeof executions.$inferSelect;
type Execution = Pick<
  ExecutionRow,
  | 'status'
  | 'trigger'
  | 'attempt'
  | 'retryOfId'
  | 'plannedFor'
  | 'runAt'
  | 'createdAt'
  | 'queuedAt'
  | 'interruptedAt'
  | 'startedAt'
  | 'completedAt'
  | 'model'
  | 'processingTimeMs'
  | 'error'
  | 'errorCode'
> & { tokens: { input: number; output: number; estimated: boolean } | null };

interface Asked {
  /** Null before the start, and for executions of older versions. */
  request: ExecutionRow['request'];
  /** Of the task as it is now. */
  model: string;
  attachmentIds: readonly string[];
  changedAt: Date;
}

type Retry = Pick<ExecutionRow, 'id' | 'trigger' | 'attempt' | 'runAt' | 'createdAt'>;

/**
 * `retryOf`: null if the retried execution was deleted. `attempt`: null for a retry on demand. `model` and `attachments`
 * of what was asked: null if the task has changed since and the execution has not stored them.
 */
export type Step = { at: Date } & (
  | { kind: 'planned' }
  | { kind: 'queued'; by: 'schedule' | 'inbound' | 'manual' | 'backfill' }
  | { kind: 'queued as a retry'; retryOf: number | null; attempt: number | null; waitsUntil: Date | null }
  | { kind: 'interrupted' }
  | { kind: 'queued again'; isRetry: boolean }
  | { kind: 'started'; isAgain: boolean; lateMs: number | null }
  | { kind: 'asked'; model: string | null; attachments: number | null }
  | { kind: 'used'; model: string | null; input: number; output: number; isEstimated: boolean }
  | { kind: 'completed'; afterMs: number | null }
  | { kind: 'failed'; afterMs: number | null; errorCode: ErrorCode | null; error: string | null }
  | { kind: 'retried'; id: number; attempt: number | null; runAt: Date }
);

/** The steps as texts, in order of time. */
export const buildTimeline = (execution: Execution, asked: Asked, retries: readonly Retry[]) =>
  listSteps(execution, asked, retries).map((step) => ({ timestamp: step.at, message: describeStep(step) }));

/** Derived from the row of the execution and its task as it is now; in order of time. */
export function listSteps(execution: Execution, asked: Asked, retries: readonly Retry[]): Step[] {
  const { trigger, plannedFor } = execution;
  const steps: Step[] = [
    ...(isPlannedTrigger(trigger) && plannedFor ? [{ at: plannedFor, kind: 'planned' } as const] : []),
    toOrigin(execution),
    ...listInterruptions(execution),
    ...listQueueing(execution),
    ...listStart(execution, asked),
    ...listCompletion(execution),
    ...retries.map(toStep),
  ];
  return steps.toSorted((a, b) => a.at.getTime() - b.at.getTime());
}

function toOrigin({ trigger, createdAt: at, retryOfId, attempt, queuedAt, runAt, status }: Execution): Step {
  if (trigger === 'schedule' || trigger === 'inbound' || trigger === 'backfill')
    return { at, kind: 'queued', by: trigger };
  if (trigger === 'manual') {
    if (retryOfId === null) return { at, kind: 'queued', by: trigger };
    return { at, kind: 'queued as a retry', retryOf: retryOfId, attempt: null, waitsUntil: null };
  }
  const waitsUntil = status === 'pending' && queuedAt === null ? runAt : null;
  return { at, kind: 'queued as a retry', retryOf: retryOfId, attempt, waitsUntil };
}

const listInterruptions = ({ interruptedAt }: Execution): Step[] =>
  (interruptedAt ?? []).map((at) => ({ at, kind: 'interrupted' }));

/** Only the latest instant of queueing is stored. */
function listQueueing({ trigger, queuedAt, createdAt, startedAt, completedAt, interruptedAt }: Execution): Step[] {
  const isListed = [createdAt, ...(interruptedAt ?? [])].some((at) => isSame(at, queuedAt));
  const isRefused = startedAt === null && isSame(completedAt, queuedAt);
  if (queuedAt === null || isListed || isRefused) return [];
  return [{ at: queuedAt, kind: 'queued again', isRetry: trigger === 'retry' }];
}

function listStart(
  { trigger, startedAt: at, completedAt, plannedFor, interruptedAt }: Execution,
  asked: Asked,
): Step[] {
  if (at === null) return [];
  const isAgain = interruptedAt?.some((before) => before < at) ?? false;
  const lateMs = trigger === 'schedule' && plannedFor ? at.getTime() - plannedFor.getTime() : null;
  // The end of the last run is the end of its task, which changes no setting.
  const isUnchanged = asked.changedAt <= at || isSame(asked.changedAt, completedAt);
  return [
    { at, kind: 'started', isAgain, lateMs },
    {
      at,
      kind: 'asked',
      model: asked.request?.model ?? (isUnchanged ? asked.model : null),
      attachments: isUnchanged ? asked.attachmentIds.length : null,
    },
  ];
}

function listCompletion({ status, completedAt: at, model, tokens, processingTimeMs, error, errorCode }: Execution) {
  if (at === null) return [];
  const steps: Step[] = [];
  if (tokens) {
    steps.push({
      at,
      kind: 'used',
      model,
      input: tokens.input,
      output: tokens.output,
      isEstimated: tokens.estimated,
    });
  }
  const afterMs = processingTimeMs;
  steps.push(
    status === 'completed' ? { at, kind: 'completed', afterMs } : { at, kind: 'failed', afterMs, errorCode, error },
  );
  return steps;
}

const toStep = ({ id, trigger, attempt, runAt, createdAt }: Retry): Step => ({
  at: createdAt,
  kind: 'retried',
  id,
  attempt: trigger === 'retry' ? attempt : null,
  runAt,
});

function describeStep(step: Step): string {
  switch (step.kind) {
    case 'planned':
      return 'Planned to run.';
    case 'queued':
      return QUEUED_BY[step.by];
    case 'queued as a retry': {
      const original = step.retryOf === null ? 'an execution' : `execution ${step.retryOf}`;
      if (step.attempt === null) return `Queued on demand, as a retry of ${original}.`;
      const waits = step.waitsUntil ? ` It waits until ${step.waitsUntil.toISOString()}.` : '';
      return `Scheduled as a retry of ${original}, attempt ${step.attempt}.${waits}`;
    }
    case 'interrupted':
      return 'The process that ran it was found dead: queued again.';
    case 'queued again':
      return step.isRetry ? 'Queued.' : 'The process that ran it was stopped: queued again.';
    case 'started': {
      const late = step.lateMs === null ? '' : `, ${step.lateMs / 1000} s after its planned instant`;
      return `Started${step.isAgain ? ' again' : ''}${late}.`;
    }
    case 'asked': {
      const attachments = step.attachments === 1 ? '1 attachment' : `${step.attachments} attachments`;
      return `Asking ${step.model ?? 'the model'}${step.attachments === null ? '' : ` with ${attachments}`}.`;
    }
    case 'used': {
      const count = `${step.input} prompt and ${step.output} completion tokens`;
      return `${step.model ?? 'The model'} took ${count}${step.isEstimated ? ', an estimate' : ''}.`;
    }
    case 'completed':
      return `Completed${describeTime(step.afterMs)}.`;
    case 'failed':
      return `Failed as ${step.errorCode}${describeTime(step.afterMs)}: ${step.error}`;
    case 'retried':
      return step.attempt === null
        ? `Retried on demand: execution ${step.id}.`
        : `Retry scheduled: execution ${step.id}, attempt ${step.attempt}, at ${step.runAt.toISOString()}.`;
  }
}

const QUEUED_BY = {
  schedule: 'Queued by the schedule.',
  inbound: 'Queued by an inbound webhook.',
  manual: 'Queued on demand.',
  backfill: 'Queued to fill in a planned run.',
};

const describeTime = (ms: number | null) => (ms === null ? '' : ` after ${ms} ms`);

const isSame = (a: Date | null, b: Date | null) => a !== null && a.getTime() === b?.getTime();
