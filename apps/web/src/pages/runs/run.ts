import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderFormError } from '../../components/fields.ts';
import { renderElapsed } from '../../components/times.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import { readId, readQueryId } from '../../http/path-ids.ts';
import { type Page, type UserPageContext, unwrap } from '../../page.ts';
import { renderAttempt } from '../task-form/attempt.ts';
import { renderAnswer, renderCitations } from './answer.ts';
import { renderChanges } from './changes.ts';
import { renderDeliveries } from './deliveries.ts';
import { renderFailure } from './failure.ts';
import { renderFacts, renderNeighbours } from './figures.ts';
import { type Run, renderRunOutcome, timeOf } from './outcomes.ts';
import { renderPrompt } from './prompt.ts';
import { canAsk, renderQuestions } from './questions.ts';
import { renderReadSources } from './read-sources.ts';
import { renderSteps } from './steps.ts';

export async function showRun(context: UserPageContext): Promise<Page> {
  const against = readQueryId(context, 'against');
  const asked = { id: readId(context), ...(against !== undefined && { against }) };
  return renderRunPage(context, unwrap(await context.actions.getRun(context.session, asked)));
}

export const nameRun = (context: UserPageContext, { execution }: Run): string =>
  context.texts.runs.run(context.texts.formats.longMoment(timeOf(execution), context));

export function renderRunPage(
  context: UserPageContext,
  data: WebActionData<'getRun'>,
  errors: FormErrors = NO_ERRORS,
  asked: Parameters<typeof renderQuestions>[2] = {},
): Page {
  const { run } = data;
  const { execution, task } = run;
  const { id, status, attempt } = execution;
  const hasEnded = status === 'completed' || status === 'failed';
  const { texts } = context;
  const { runs } = texts;
  const place = attempt > 1 ? ` · ${runs.onAttempt(attempt)}` : '';
  const elapsed =
    status === 'running' &&
    execution.startedAt !== null &&
    html` · ${renderElapsed(new Date(execution.startedAt), context.now)}`;
  const steps = html`<section aria-labelledby="steps"><div class="head"><h2 id="steps">${runs.timeline}</h2></div>${renderSteps(context, run)}</section>`;
  const answer = [
    renderAnswer(context, run),
    renderCitations(context, run),
    renderReadSources(context, run),
    renderQuestions(context, run, asked),
    renderChanges(context, run),
  ];
  return {
    title: nameRun(context, run),
    breadcrumb: { href: `/tasks/${task.id}`, text: task.name },
    subtitle: html`${renderRunOutcome(texts, { ...execution, fate: run.fate, isChanged: run.isChanged })}${elapsed}${place} · ${runs.number(id)}`,
    aside: renderButtons(context, run),
    isLive: !hasEnded || run.hasLiveRetry,
    seen: hasEnded && execution.seenAt === null && execution.outcome !== 'nothing_new' ? 1 : 0,
    scripts: [
      ASSET_URLS.copy,
      ...(hasEnded ? [] : [ASSET_URLS.clock]),
      ...(canAsk(run) ? [ASSET_URLS.streamAnswer, ASSET_URLS.agent] : []),
    ],
    body: html`${renderFormError(errors, texts)}${status === 'failed' ? renderFailure(context, run) : EMPTY}
<div class="split"><div class="gap-l">
${status === 'completed' ? [...answer, steps] : [steps, ...answer]}
${renderPrompt(context, run)}
</div><aside class="gap-l" aria-label="${runs.details}">${renderFacts(context, run)}${renderNeighbours(context, run)}</aside></div>
${renderDeliveries(context, id, data)}`,
  };
}

/** A run that waits to try again is started by a retry of the one before. */
function findAction(
  { runs }: Texts,
  { execution: { id, status, errorCode, retryOfId }, steps }: Run,
): { path: string; text: string } | null {
  if (status === 'failed') return { path: `${id}/retry`, text: errorCode === 'CANCELLED' ? runs.runAgain : runs.retry };
  if (status === 'completed') return { path: `${id}/run-again`, text: runs.runAgain };
  const waits = steps.some((step) => step.kind === 'queued as a retry' && step.waitsUntil !== null);
  return waits && retryOfId !== null ? { path: `${retryOfId}/retry`, text: runs.runNow } : null;
}

function renderButtons({ csrfField, texts }: UserPageContext, run: Run): Html {
  const { runs } = texts;
  const { id, status } = run.execution;
  const { task } = run;
  const isLive = status === 'pending' || status === 'running';
  const action = findAction(texts, run);
  const button =
    action && html`<button class="primary" formaction="/executions/${action.path}">${action.text}</button>`;
  return html`<form class="do" method="post">${csrfField}${renderAttempt()}${button}${isLive && html`<button formaction="/executions/${id}/cancel">${runs.stop}</button>`}<a class="button" href="/tasks/${task.id}/edit">${runs.editTask}</a><a class="button" href="/executions/${id}/text">${runs.copyAsText}</a></form>`;
}
