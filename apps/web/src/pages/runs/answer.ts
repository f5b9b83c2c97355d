import { describeFallback } from '@carillon/texts';
import { renderWithContents } from '../../components/answer/markdown.ts';
import { renderOutput } from '../../components/answer/output.ts';
import { renderSources } from '../../components/answer/sources.ts';
import { renderCopyButton } from '../../components/fields.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { describeCut, type Run } from './outcomes.ts';

/** Longer answers are cut on the page, and whole as text. */
const MAX_CHARACTERS = 20_000;
/** Longer ones are folded on phones. */
const MIN_FOLDED = 2000;

export function renderAnswer(context: UserPageContext, run: Run): Html {
  const { runs } = context.texts;
  const canCopy = run.execution.result !== null && run.execution.output === null;
  return html`<section aria-labelledby="answer"><div class="head"><h2 id="answer">${runs.answer}</h2>${run.execution.truncated && html`<p class="note">${describeCut(context.texts, run)} <a href="/tasks/${run.task.id}/edit">${runs.raiseLimit}</a></p>`}${canCopy && renderCopyButton('answer-text', context.texts)}</div>${renderOutcome(context, run)}${renderText(context, run)}</section>`;
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
    const { content, headings } = renderWithContents(result.slice(0, MAX_CHARACTERS), context.texts);
    const isLong = result.length > MIN_FOLDED;
    return html`${
      headings.length > 0 &&
      html`<details class="contents" open><summary>${runs.contents}</summary><ol>${headings.map(
        ({ id, text }) => html`<li><a href="#${id}">${text}</a></li>`,
      )}</ol></details>`
    }<div class="panel answer${isLong && ' long'}" id="answer-text">${content}${rest}</div>${
      isLong && html`<label class="show-all"><input type="checkbox">${runs.showAll}</label>`
    }`;
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
