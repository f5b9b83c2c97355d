import type { WebActionData } from '@carillon/contract/actions/web/index';
import { type Html, html } from '../../html.ts';
import { countWords, formatCost, formatCount, formatDuration } from '../../parts/format.ts';
import { renderMarkdown } from '../../parts/markdown.ts';

export type TriedPrompt = WebActionData<'tryPrompt'>;

/** The answer to a prompt that was tried. */
export function renderTried({
  answer,
  model,
  inputTokens,
  outputTokens,
  costUsd,
  estimated,
  durationMs,
}: TriedPrompt): Html {
  const about = estimated ? 'about ' : '';
  return html`<section class="panel gap" aria-labelledby="tried" id="answer"><div class="head"><h2 id="tried">The answer now</h2><p>${model}, ${formatDuration(
    durationMs,
  )}, ${about}${countWords(inputTokens + outputTokens, 'token')} (${formatCount(inputTokens)} in, ${formatCount(
    outputTokens,
  )} out), ${about}${formatCost(costUsd)}</p></div>
<div class="answer">${renderMarkdown(answer)}</div>
<p class="hint">Nothing is saved yet. This counted as one run of your quota.</p></section>`;
}
