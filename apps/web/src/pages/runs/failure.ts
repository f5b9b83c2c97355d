import { type Texts, translateApiMessage } from '@carillon/texts';
import { type RunOutcome, renderIcon } from '../../components/status-icon.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeFailure } from './failures.ts';
import { describeOutcome, type Run } from './outcomes.ts';

/** Why there is no answer, and what to do. */
export function renderFailure(context: UserPageContext, run: Run): Html {
  const { execution, fate } = run;
  const { error, errorCode, startedAt } = execution;
  const { texts } = context;
  const { runs } = texts;
  const { why, whatToDo, link } = describeFailure(context, errorCode, startedAt !== null);
  const { outcome } = describeOutcome(texts, { ...execution, fate, isChanged: false });
  // Nobody needs the words of a stop that they asked for.
  const isStop = outcome === 'cancelled';
  return html`<div class="notice ${PANELS[outcome]}" role="region" aria-labelledby="why">
${renderIcon(outcome)}
<h2 id="why">${why}</h2>
${!isStop && error !== null && html`<p class="fine">${translateApiMessage(error, texts)} ${errorCode !== null && html`<code>${errorCode}</code>`}</p>`}
${describeAttempts(texts, run)}
<p><b>${runs.whatToDo}</b> ${describeRetry(context, run) ?? whatToDo}${link && html` <a href="${link.href}">${link.text}</a>.`}</p>
</div>`;
}

/** Of the panel: a run that was stopped is no failure, and a used quota is no fault. */
const PANELS: Partial<Record<RunOutcome, string>> = { cancelled: 'calm', quota: 'short' };

function describeAttempts({ runs }: Texts, { execution: { errorCode }, earlierAttempts }: Run): Html | false {
  if (earlierAttempts.length === 0) return false;
  const count = earlierAttempts.length + 1;
  if (earlierAttempts.some((attempt) => attempt.errorCode !== errorCode)) return false;
  return html`<p>${runs.attemptsAlike(count)}</p>`;
}

/** Null unless Carillon tries again by itself. */
function describeRetry(context: UserPageContext, { hasLiveRetry, steps }: Run): Html | null {
  const retry = steps.findLast((step) => step.kind === 'retried');
  if (!hasLiveRetry || retry?.kind !== 'retried') return null;
  const { runs, formats } = context.texts;
  const link = html`<a href="/executions/${retry.id}">${runs.number(retry.id)}</a>`;
  const at = new Date(retry.runAt);
  if (at <= context.now) return html`${runs.retryIsRunning(link)}`;
  return html`${runs.retryIsPlanned(link, formats.moment(at, context))}`;
}
