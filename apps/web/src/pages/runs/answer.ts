import { describeFallback } from '@carillon/texts';
import { renderMarkdown } from '../../components/answer/markdown.ts';
import { renderOutput } from '../../components/answer/output.ts';
import { renderSources } from '../../components/answer/sources.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeCut, type Run } from './outcomes.ts';

/** Longer answers are cut on the page, and whole as text. */
const MAX_CHARACTERS = 20_000;

export function renderAnswer(context: UserPageContext, run: Run): Html {
  const { runs } = context.texts;
  return html`<section aria-labelledby="answer"><div class="head"><h2 id="answer">${runs.answer}</h2>${run.execution.truncated && html`<p class="note">${describeCut(context.texts, run)} <a href="/tasks/${run.task.id}/edit">${runs.raiseLimit}</a></p>`}</div>${renderOutcome(context, run)}${renderText(context, run)}</section>`;
}

/** Whether the answer does what the task is for, and why another model answered. */
function renderOutcome({ texts }: UserPageContext, { execution }: Run): Html {
  const { runs } = texts;
  const { outcome, outcomeReason, modelAttempts } = execution;
  const fallback = describeFallback(texts, modelAttempts);
  return html`${outcome !== null && html`<p><b>${runs.judgements[outcome]}.</b> ${outcomeReason}</p>`}${fallback !== '' && html`<p>${fallback}</p>`}`;
}

/** The pages of the web that the answer cites. */
export function renderCitations({ texts }: UserPageContext, { execution: { citations } }: Run): Html {
  const { runs } = texts;
  if (citations.length === 0) return EMPTY;
  return html`<section aria-labelledby="sources"><div class="head"><h2 id="sources">${runs.citations}</h2><p>${runs.cited(citations.length)}</p></div>${renderSources(citations, texts)}</section>`;
}

function renderText(context: UserPageContext, { execution: { id, status, result, output }, lastSuccess }: Run): Html {
  const { runs, formats } = context.texts;
  if (output !== null) {
    return html`<div class="panel">${renderOutput(output, context.texts)}</div><p class="fine after"><a href="/executions/${id}/text">${runs.asJson}</a></p>`;
  }
  if (result !== null && result.trim() !== '') {
    const rest =
      result.length > MAX_CHARACTERS &&
      html`<p>${runs.beginning} <a href="/executions/${id}/text">${runs.readAsText}</a></p>`;
    return html`<div class="panel answer">${renderMarkdown(result.slice(0, MAX_CHARACTERS), context.texts)}${rest}</div>`;
  }
  const text = {
    pending: runs.waitingForAnswer,
    running: runs.waitingForAnswer,
    completed: runs.emptyAnswer,
    failed: runs.noAnswer,
  }[status];
  return html`<div class="panel empty"><p>${text}</p>${
    lastSuccess &&
    html`<p><a href="/executions/${lastSuccess.id}">${runs.readLast(formats.day(new Date(lastSuccess.at), context))}</a></p>`
  }</div>`;
}
