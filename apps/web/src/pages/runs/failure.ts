import type { Texts } from '@carillon/texts';
import { renderIcon } from '../../components/status-icon.ts';
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
  const { why, whatToDo, link } = describeFailure(texts, errorCode, startedAt !== null);
  return html`<div class="notice gap-s" role="region" aria-labelledby="why">
${renderIcon(describeOutcome(texts, { ...execution, fate, isChanged: false }).outcome)}
<h2 id="why">${why}</h2>
${error !== null && html`<p>${error}</p>`}
${describeAttempts(texts, run)}
<p><b>${runs.whatToDo}</b> ${describeRetry(context, run) ?? whatToDo}${link && html` <a href="${link.href}">${link.text}</a>.`}</p>
${errorCode !== null && html`<p class="fine">${runs.errorCode} <code>${errorCode}</code></p>`}
</div>`;
}

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
