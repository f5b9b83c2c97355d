import { describeFallback } from '@carillon/contract/describe-fallback';
import { renderMarkdown } from '../../components/answer/markdown.ts';
import { renderOutput } from '../../components/answer/output.ts';
import { renderSources } from '../../components/answer/sources.ts';
import { countWords, formatDay } from '../../components/format.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { Run } from './outcomes.ts';

/** Longer answers are cut on the page, and whole as text. */
const MAX_CHARACTERS = 20_000;

export function renderAnswer(context: UserPageContext, run: Run): Html {
  return html`<section aria-labelledby="answer"><div class="head"><h2 id="answer">Answer</h2>${run.execution.truncated && html`<p>Cut off: it reached the maximum length</p>`}</div>${renderOutcome(run)}${renderText(context, run)}</section>`;
}

const OUTCOMES = { done: 'Done', nothing_new: 'Nothing new', not_done: 'Not done' };

/** Whether it does what the task is for, and which model it is of. */
function renderOutcome({ execution: { outcome, outcomeReason, modelAttempts } }: Run): Html {
  const fallback = describeFallback(modelAttempts);
  return html`${outcome !== null && html`<p><b>${OUTCOMES[outcome]}.</b> ${outcomeReason}</p>`}${fallback !== '' && html`<p>${fallback}</p>`}`;
}

/** The pages of the web that the answer cites. */
export function renderCitations({ execution: { citations } }: Run): Html {
  if (citations.length === 0) return EMPTY;
  return html`<section aria-labelledby="sources"><div class="head"><h2 id="sources">Sources</h2><p>${countWords(citations.length, 'page')} that the answer cites</p></div>${renderSources(citations)}</section>`;
}

function renderText(context: UserPageContext, { execution: { id, status, result, output }, lastSuccess }: Run): Html {
  if (output !== null) {
    return html`<div class="panel">${renderOutput(output)}</div><p class="fine after"><a href="/executions/${id}/text">The answer as JSON</a></p>`;
  }
  if (result !== null && result.trim() !== '') {
    const rest =
      result.length > MAX_CHARACTERS &&
      html`<p>This is the beginning. <a href="/executions/${id}/text">Read all of it as text</a></p>`;
    return html`<div class="panel answer">${renderMarkdown(result.slice(0, MAX_CHARACTERS))}${rest}</div>`;
  }
  const text = {
    pending: 'The answer will stand here once the run has ended.',
    running: 'The answer will stand here once the run has ended.',
    completed: 'The model answered with an empty text.',
    failed: 'No answer came.',
  }[status];
  const { timeZone, now } = context;
  return html`<div class="panel empty"><p>${text}</p>${
    lastSuccess &&
    html`<p><a href="/executions/${lastSuccess.id}">Read the last one, of ${formatDay(new Date(lastSuccess.at), timeZone, now)}</a></p>`
  }</div>`;
}
