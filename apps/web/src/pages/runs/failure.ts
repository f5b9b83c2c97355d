import { formatMomentInText } from '../../components/format.ts';
import { renderIcon } from '../../components/status-icon.ts';
import { type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeFailure } from './failures.ts';
import { describeOutcome, type Run } from './outcomes.ts';

/** Why there is no answer, and what to do. */
export function renderFailure(context: UserPageContext, run: Run): Html {
  const { execution, fate } = run;
  const { error, errorCode, startedAt } = execution;
  const { why, whatToDo, link } = describeFailure(errorCode, startedAt !== null);
  return html`<div class="notice gap-s" role="region" aria-labelledby="why">
${renderIcon(describeOutcome({ ...execution, fate, isChanged: false }).outcome)}
<h2 id="why">${why}</h2>
${error !== null && html`<p>${error}</p>`}
${describeAttempts(run)}
<p><b>What to do:</b> ${describeRetry(context, run) ?? whatToDo}${link && html` <a href="${link.href}">${link.text}</a>.`}</p>
${errorCode !== null && html`<p class="fine">Error code <code>${errorCode}</code></p>`}
</div>`;
}

function describeAttempts({ execution: { errorCode }, earlierAttempts }: Run): Html | false {
  if (earlierAttempts.length === 0) return false;
  const count = earlierAttempts.length + 1;
  if (earlierAttempts.some((attempt) => attempt.errorCode !== errorCode)) return false;
  return html`<p>All ${count} attempts ended the same way.</p>`;
}

/** Null unless Carillon tries again by itself. */
function describeRetry({ timeZone, now }: UserPageContext, { hasLiveRetry, steps }: Run): Html | null {
  const retry = steps.findLast((step) => step.kind === 'retried');
  if (!hasLiveRetry || retry?.kind !== 'retried') return null;
  const link = html`<a href="/executions/${retry.id}">run ${retry.id}</a>`;
  const at = new Date(retry.runAt);
  if (at <= now) return html`nothing, it is being tried again: ${link}.`;
  return html`nothing, Carillon tries again ${formatMomentInText(at, timeZone, now)}: ${link}. Retry it to do so now.`;
}
