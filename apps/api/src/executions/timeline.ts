import type { executions } from '@carillon/db';

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

interface ModelRequest {
  model: string;
  attachmentIds: readonly string[];
  changedAt: Date;
}

type Retry = Pick<ExecutionRow, 'id' | 'trigger' | 'attempt' | 'runAt' | 'createdAt'>;

interface Step {
  timestamp: Date;
  message: string;
}

/** Derived from the row of the execution and its task as it is now. */
export function buildTimeline(execution: Execution, request: ModelRequest, retries: readonly Retry[]): Step[] {
  const { trigger, plannedFor, createdAt } = execution;
  const steps = [
    ...(trigger === 'schedule' && plannedFor ? [{ timestamp: plannedFor, message: 'Planned to run.' }] : []),
    { timestamp: createdAt, message: describeOrigin(execution) },
    ...listInterruptions(execution),
    ...listQueueing(execution),
    ...listStart(execution, request),
    ...listCompletion(execution),
    ...retries.map(toStep),
  ];
  return steps.toSorted((a, b) => a.timestamp.getTime() - b.timestamp.getTime());
}

function describeOrigin({ trigger, retryOfId, attempt, queuedAt, runAt, status }: Execution): string {
  // The retried execution may have been deleted.
  const original = retryOfId === null ? 'an execution' : `execution ${retryOfId}`;
  switch (trigger) {
    case 'schedule':
      return 'Queued by the schedule.';
    case 'inbound':
      return 'Queued by an inbound webhook.';
    case 'manual':
      return retryOfId === null ? 'Queued on demand.' : `Queued on demand, as a retry of ${original}.`;
    case 'retry': {
      const waits = status === 'pending' && queuedAt === null ? ` It waits until ${runAt.toISOString()}.` : '';
      return `Scheduled as a retry of ${original}, attempt ${attempt}.${waits}`;
    }
  }
}

const listInterruptions = ({ interruptedAt }: Execution): Step[] =>
  (interruptedAt ?? []).map((timestamp) => ({
    timestamp,
    message: 'The process that ran it was found dead: queued again.',
  }));

/** Only the latest instant of queueing is stored. */
function listQueueing({ trigger, queuedAt, createdAt, startedAt, completedAt, interruptedAt }: Execution): Step[] {
  const isListed = [createdAt, ...(interruptedAt ?? [])].some((at) => isSame(at, queuedAt));
  const isRefused = startedAt === null && isSame(completedAt, queuedAt);
  if (queuedAt === null || isListed || isRefused) return [];
  const message = trigger === 'retry' ? 'Queued.' : 'The process that ran it was stopped: queued again.';
  return [{ timestamp: queuedAt, message }];
}

function listStart({ trigger, startedAt, plannedFor, interruptedAt }: Execution, request: ModelRequest): Step[] {
  if (startedAt === null) return [];
  const again = interruptedAt?.some((at) => at < startedAt) ? ' again' : '';
  const lateMs = trigger === 'schedule' && plannedFor ? startedAt.getTime() - plannedFor.getTime() : null;
  const late = lateMs === null ? '' : `, ${lateMs / 1000} s after its planned instant`;
  const count = request.attachmentIds.length;
  const asked = `${request.model} with ${count === 1 ? '1 attachment' : `${count} attachments`}`;
  // An execution does not store its request.
  const isUnchanged = request.changedAt <= startedAt;
  return [
    { timestamp: startedAt, message: `Started${again}${late}.` },
    {
      timestamp: startedAt,
      message: isUnchanged ? `Asking ${asked}.` : `Asking the model. The task, changed since, now asks ${asked}.`,
    },
  ];
}

function listCompletion({ status, completedAt, model, tokens, processingTimeMs, error, errorCode }: Execution): Step[] {
  if (completedAt === null) return [];
  const after = processingTimeMs === null ? '' : ` after ${processingTimeMs} ms`;
  const count = tokens && `${tokens.input} prompt and ${tokens.output} completion tokens`;
  const usage = count && `${model ?? 'The model'} took ${count}${tokens.estimated ? ', an estimate' : ''}.`;
  const message = status === 'completed' ? `Completed${after}.` : `Failed as ${errorCode}${after}: ${error}`;
  return [...(usage ? [usage] : []), message].map((message) => ({ timestamp: completedAt, message }));
}

const toStep = ({ id, trigger, attempt, runAt, createdAt }: Retry): Step => ({
  timestamp: createdAt,
  message:
    trigger === 'retry'
      ? `Retry scheduled: execution ${id}, attempt ${attempt}, at ${runAt.toISOString()}.`
      : `Retried on demand: execution ${id}.`,
});

const isSame = (a: Date | null, b: Date | null) => a !== null && a.getTime() === b?.getTime();
