import { countWords, formatDay, formatDuration, formatMomentInText, formatSeconds } from '../../components/format.ts';
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
  const { timeZone, now } = context;
  const attempts = run.earlierAttempts.flatMap((attempt) => toAttemptEntry(attempt) ?? []);
  const entries = [...attempts, ...run.steps.flatMap((step, at) => toEntry(context, run, step, at) ?? [])];
  const sorted = entries.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const days = sorted.map(({ at }) => formatDay(at, timeZone, now));
  const isOneDay = new Set(days).size === 1;
  return renderTimeline(
    sorted.map(({ at, outcome, content }, index) => ({
      at,
      outcome,
      content,
      time: formatSeconds(at, timeZone),
      day: isOneDay || days[index] === days[index - 1] ? undefined : days[index],
    })),
  );
}

function toAttemptEntry({ id, attempt, errorCode, error, endedAt }: Run['earlierAttempts'][number]): Entry | null {
  if (endedAt === null) return null;
  const reason = error ?? describeFailure(errorCode, true).why;
  return {
    at: new Date(endedAt),
    outcome: 'failed',
    content: html`<p><a href="/executions/${id}">Attempt ${attempt}</a> failed: ${reason}</p>`,
  };
}

/** Null for a step that another one tells of. */
function toEntry(context: UserPageContext, run: Run, step: Step, index: number): Entry | null {
  const text = describeStep(context, run, step, index);
  if (text === null) return null;
  return { at: new Date(step.at), outcome: FATES[step.kind] ?? null, content: html`<p>${text}</p>` };
}

const FATES: Partial<Record<Step['kind'], RunOutcome>> = { completed: 'ran', failed: 'failed', interrupted: 'missed' };

const QUEUED_BY = {
  schedule: 'Queued by the schedule.',
  inbound: 'Queued by an inbound webhook.',
  manual: 'Queued by hand.',
  backfill: 'Queued to fill in a planned run.',
};

function describeStep({ timeZone, now }: UserPageContext, run: Run, step: Step, index: number): Html | string | null {
  const moment = (at: string) => formatMomentInText(at, timeZone, now);
  switch (step.kind) {
    case 'planned':
      return 'Planned by the schedule.';
    case 'queued':
      return QUEUED_BY[step.by];
    case 'queued as a retry': {
      const original =
        step.retryOf === null ? 'a run' : html`<a href="/executions/${step.retryOf}">run ${step.retryOf}</a>`;
      if (step.attempt === null) return html`Queued by hand, to repeat ${original}.`;
      const waits = step.waitsUntil !== null && ` It waits until ${moment(step.waitsUntil)}.`;
      return html`Planned as attempt ${step.attempt}, after ${original} failed.${waits}`;
    }
    case 'interrupted':
      return 'The process that ran it ended. It was queued again.';
    case 'queued again':
      return step.isRetry ? 'Queued.' : 'The process that ran it was stopped. It was queued again.';
    case 'started': {
      const late = step.lateMs !== null && step.lateMs >= 500 ? `, ${formatDuration(step.lateMs)} after its time` : '';
      const asked = run.steps.find((one) => one.kind === 'asked');
      return `Started${step.isAgain ? ' again' : ''}${late}.${asked ? ` ${describeRequest(asked)}` : ''}`;
    }
    case 'asked':
    case 'used':
      return null;
    case 'completed':
      return `The answer came${describeTime(step.afterMs)}.`;
    case 'failed':
      if (step.errorCode === 'CANCELLED') return `Stopped${describeTime(step.afterMs)}.`;
      return `Ended without an answer${describeTime(step.afterMs)}: ${step.error ?? ''}`;
    case 'retried': {
      const link = html`<a href="/executions/${step.id}">run ${step.id}</a>`;
      if (step.attempt === null) return html`Repeated by hand: ${link}.`;
      const isLast = index === run.steps.length - 1 && run.hasLiveRetry;
      return html`Attempt ${step.attempt} ${isLast ? 'is' : 'was'} planned for ${moment(step.runAt)}: ${link}.`;
    }
  }
}

function describeRequest({ model, attachments }: Extract<Step, { kind: 'asked' }>): string {
  return `Asked ${model ?? 'the model'}${attachments ? ` with ${countWords(attachments, 'attachment')}` : ''}.`;
}

const describeTime = (ms: number | null) => (ms === null ? '' : ` after ${formatDuration(ms)}`);
