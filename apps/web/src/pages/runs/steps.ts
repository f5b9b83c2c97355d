import type { Texts } from '@carillon/texts';
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
  const attempts = run.earlierAttempts.flatMap((attempt) => toAttemptEntry(texts, attempt) ?? []);
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
  texts: Texts,
  { id, attempt, errorCode, error, endedAt }: Run['earlierAttempts'][number],
): Entry | null {
  const { runs } = texts;
  if (endedAt === null) return null;
  const reason = error ?? describeFailure(texts, errorCode, true).why;
  return {
    at: new Date(endedAt),
    outcome: 'failed',
    content: html`<p>${runs.attemptFailed(html`<a href="/executions/${id}">${runs.attemptLink(attempt)}</a>`, reason)}</p>`,
  };
}

/** Null for a step that another one tells of. */
function toEntry(context: UserPageContext, run: Run, step: Step, index: number): Entry | null {
  const text = describeStep(context, run, step, index);
  if (text === null) return null;
  return { at: new Date(step.at), outcome: FATES[step.kind] ?? null, content: html`<p>${text}</p>` };
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
      return runs.stepFailed(duration(step.afterMs), step.error ?? '');
    case 'retried': {
      if (step.attempt === null) return html`${runs.stepRepeated(linkRun(step.id))}`;
      const isPending = index === run.steps.length - 1 && run.hasLiveRetry;
      return html`${runs.stepNext(step.attempt, moment(step.runAt), linkRun(step.id), isPending)}`;
    }
  }
}
