import type { RunOutcome } from '../../components/status-icon.ts';
import { renderTimeline } from '../../components/times.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeFailure } from './failures.ts';
import type { Run } from './outcomes.ts';

type Step = Run['steps'][number];

interface Entry {
  at: Date;
  outcome: RunOutcome | null;
  content: Html | string;
}

/** What happened, from the plan to the end, with the attempts before this one. */
export function renderSteps(context: UserPageContext, run: Run): Html {
  const { texts } = context;
  const { formats } = texts;
  const attempts = run.earlierAttempts.flatMap((attempt) => toAttemptEntry(context, run, attempt) ?? []);
  const entries = [...attempts, ...run.steps.flatMap((step, at) => toEntry(context, run, step, at) ?? [])];
  const sorted = entries.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const days = sorted.map(({ at }) => formats.day(at, context));
  const isOneDay = new Set(days).size === 1;
  return renderTimeline(
    sorted.map(({ at, outcome, content }, index) => ({
      at,
      outcome,
      content,
      time: formats.timeWithSeconds(at, context.timeZone),
      day: isOneDay || days[index] === days[index - 1] ? undefined : days[index],
    })),
  );
}

function toAttemptEntry(
  context: UserPageContext,
  { execution }: Run,
  { id, attempt, errorCode, error, endedAt }: Run['earlierAttempts'][number],
): Entry | null {
  const { runs } = context.texts;
  if (endedAt === null) return null;
  const at = new Date(endedAt);
  const link = html`<a href="/executions/${id}">${runs.attemptLink(attempt)}</a>`;
  if (errorCode === 'CANCELLED')
    return { at, outcome: 'cancelled', content: html`<p>${runs.attemptStopped(link)}</p>` };
  // The panel says why the run failed; an attempt that failed in the same way adds nothing.
  const isAlike = errorCode === execution.errorCode && error === execution.error;
  const reason = isAlike ? null : (error ?? describeFailure(context, errorCode, true).why);
  return { at, outcome: 'failed', content: html`<p>${runs.attemptFailed(link, reason)}</p>` };
}

/** Null for a step that another one tells of. */
function toEntry(context: UserPageContext, run: Run, step: Step, index: number): Entry | null {
  const text = describeStep(context, run, step, index);
  if (text === null) return null;
  const isStop = step.kind === 'failed' && step.errorCode === 'CANCELLED';
  const outcome = isStop ? 'cancelled' : (FATES[step.kind] ?? null);
  return { at: new Date(step.at), outcome, content: html`<p>${text}</p>` };
}

const FATES: Partial<Record<Step['kind'], RunOutcome>> = { completed: 'ran', failed: 'failed', interrupted: 'missed' };

function describeStep(context: UserPageContext, run: Run, step: Step, index: number): Html | string | null {
  const { runs, formats } = context.texts;
  const moment = (at: string) => formats.moment(new Date(at), context);
  const linkRun = (id: number) => html`<a href="/executions/${id}">${runs.number(id)}</a>`;
  const duration = (ms: number | null) => (ms === null ? null : formats.duration(ms));
  switch (step.kind) {
    case 'planned':
      return runs.stepPlanned;
    case 'queued':
      return runs.stepQueued[step.by];
    case 'queued as a retry': {
      const original = step.retryOf === null ? html`${runs.aRun}` : linkRun(step.retryOf);
      if (step.attempt === null) return html`${runs.stepRepeat(original)}`;
      const waits = step.waitsUntil !== null && ` ${runs.stepWaits(moment(step.waitsUntil))}`;
      return html`${runs.stepRetry(step.attempt, original)}${waits}`;
    }
    case 'interrupted':
      return runs.stepInterrupted;
    case 'queued again':
      return step.isRetry ? runs.stepQueuedRetry : runs.stepQueuedAgain;
    case 'started': {
      const lateness = step.lateMs !== null && step.lateMs >= 500 ? formats.duration(step.lateMs) : null;
      const asked = run.steps.find((one) => one.kind === 'asked');
      return [
        runs.stepStarted(step.isAgain, lateness),
        ...(asked ? [runs.stepAsked(asked.model, asked.attachments ?? 0)] : []),
      ].join(' ');
    }
    case 'asked':
    case 'used':
      return null;
    case 'completed':
      return runs.stepAnswered(duration(step.afterMs));
    case 'failed':
      if (step.errorCode === 'CANCELLED') return runs.stepStopped(duration(step.afterMs));
      return runs.stepFailed(duration(step.afterMs));
    case 'retried': {
      if (step.attempt === null) return html`${runs.stepRepeated(linkRun(step.id))}`;
      const isPending = index === run.steps.length - 1 && run.hasLiveRetry;
      return html`${runs.stepNext(step.attempt, moment(step.runAt), linkRun(step.id), isPending)}`;
    }
  }
}
