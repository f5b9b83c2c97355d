import type { executions } from '@carillon/db';
import type { toExecution } from './read.ts';

type Stored = typeof executions.$inferSelect;
type Run = ReturnType<typeof toExecution> & Pick<Stored, 'queuedAt' | 'runAt' | 'interruptedAt'>;

/** What a task asks for at this moment, and when its owner changed it last. */
interface Asked {
  model: string;
  attachmentIds: readonly string[];
  changedAt: Date;
}

type Retry = Pick<Stored, 'id' | 'trigger' | 'attempt' | 'runAt' | 'createdAt'>;

interface Step {
  timestamp: Date;
  message: string;
}

/**
 * What a run did, step by step in order of time, told by the columns of its row: nothing is written for it while it
 * runs. Every `timestamp` is an instant that was stored; what is only inferred from today's task or estimated says so.
 */
export function logOf(run: Run, asked: Asked, retries: readonly Retry[]): Step[] {
  const steps = [
    ...(run.trigger === 'schedule' && run.plannedFor
      ? [{ timestamp: run.plannedFor, message: 'Planned to run.' }]
      : []),
    { timestamp: run.createdAt, message: originOf(run) },
    ...interruptionsOf(run),
    ...queueingOf(run),
    ...startOf(run, asked),
    ...endOf(run),
    ...retries.map(toStep),
  ];
  // Steps of one instant stay in the order in which one led to the next.
  return steps.toSorted((a, b) => a.timestamp.getTime() - b.timestamp.getTime());
}

function originOf({ trigger, retryOfId, attempt, queuedAt, runAt, status }: Run): string {
  // The run that it repeats may have been deleted.
  const repeated = retryOfId === null ? 'an execution' : `execution ${retryOfId}`;
  switch (trigger) {
    case 'schedule':
      return 'Queued by the schedule.';
    case 'inbound':
      return 'Queued by an inbound webhook.';
    case 'manual':
      return retryOfId === null ? 'Queued on demand.' : `Queued on demand, as a retry of ${repeated}.`;
    case 'retry': {
      const waits = status === 'pending' && queuedAt === null ? ` It waits until ${runAt.toISOString()}.` : '';
      return `Scheduled as a retry of ${repeated}, attempt ${attempt}.${waits}`;
    }
  }
}

const interruptionsOf = ({ interruptedAt }: Run): Step[] =>
  (interruptedAt ?? []).map((timestamp) => ({
    timestamp,
    message: 'The process that ran it was found dead: queued again.',
  }));

/** Of all times that a run was queued the latest is stored. */
function queueingOf({ trigger, queuedAt, createdAt, startedAt, completedAt, interruptedAt }: Run): Step[] {
  const isTold = [createdAt, ...(interruptedAt ?? [])].some((at) => isSame(at, queuedAt));
  // What ended without a start was not queued: its quota refused it.
  const isRefused = startedAt === null && isSame(completedAt, queuedAt);
  if (queuedAt === null || isTold || isRefused) return [];
  const message = trigger === 'retry' ? 'Queued.' : 'The process that ran it was stopped: queued again.';
  return [{ timestamp: queuedAt, message }];
}

function startOf({ trigger, startedAt, plannedFor, interruptedAt }: Run, asked: Asked): Step[] {
  if (startedAt === null) return [];
  const again = interruptedAt?.some((at) => at < startedAt) ? ' again' : '';
  const lateness = trigger === 'schedule' && plannedFor ? startedAt.getTime() - plannedFor.getTime() : null;
  const late = lateness === null ? '' : `, ${lateness / 1000} s after its planned instant`;
  // What the task asked for when it ran is not stored apart from the task.
  const isKnown = asked.changedAt <= startedAt;
  const attached = asked.attachmentIds.length;
  const what = `${asked.model} with ${attached === 1 ? '1 attachment' : `${attached} attachments`}`;
  return [
    { timestamp: startedAt, message: `Started${again}${late}.` },
    {
      timestamp: startedAt,
      message: isKnown ? `Asking ${what}.` : `Asking the model. The task, changed since, now asks ${what}.`,
    },
  ];
}

function endOf({ status, completedAt, model, tokens, processingTimeMs, error, errorCode }: Run): Step[] {
  if (completedAt === null) return [];
  const took = processingTimeMs === null ? '' : ` after ${processingTimeMs} ms`;
  const counted = tokens && `${tokens.input} prompt and ${tokens.output} completion tokens`;
  const used = counted && `${model ?? 'The model'} took ${counted}${tokens?.estimated ? ', an estimate' : ''}.`;
  const message = status === 'completed' ? `Completed${took}.` : `Failed as ${errorCode}${took}: ${error}`;
  return [...(used ? [used] : []), message].map((message) => ({ timestamp: completedAt, message }));
}

const toStep = ({ id, trigger, attempt, runAt, createdAt }: Retry): Step => ({
  timestamp: createdAt,
  message:
    trigger === 'retry'
      ? `Retry scheduled: execution ${id}, attempt ${attempt}, at ${runAt.toISOString()}.`
      : `Retried on demand: execution ${id}.`,
});

const isSame = (a: Date | null, b: Date | null) => a !== null && a.getTime() === b?.getTime();
