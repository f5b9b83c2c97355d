import type { WebActionData } from '../../../actions.ts';
import { renderMarkdown } from '../../../components/answer/markdown.ts';
import { renderOutput } from '../../../components/answer/output.ts';
import { renderSources } from '../../../components/answer/sources.ts';
import { countWords, formatCost, formatCount, formatDuration } from '../../../components/format.ts';
import { renderIcon } from '../../../components/status-icon.ts';
import { type Html, html } from '../../../html.ts';

type Watched = WebActionData<'tryWatch'>;

export type Trial = WebActionData<'tryPrompt'> & {
  /** Null for an answer that does not match the schema. */
  watched: Watched | null;
};

/** The answer to a prompt that was tried, with what its watched values are. */
export function renderTrial(trial: Trial): Html {
  const { model, inputTokens, outputTokens, costUsd, estimated, durationMs, watched, toolUses, citations } = trial;
  const about = estimated ? 'about ' : '';
  return html`<section class="panel gap" aria-labelledby="tried" id="answer-now"><div class="head"><h2 id="tried">The answer now</h2><p>${model}, ${formatDuration(
    durationMs,
  )}, ${about}${countWords(inputTokens + outputTokens, 'token')} (${formatCount(inputTokens)} in, ${formatCount(
    outputTokens,
  )} out), ${about}${formatCost(costUsd)}${toolUses > 0 && `, ${countWords(toolUses, 'use')} of web tools`}</p></div>
${renderAnswer(trial)}
${citations.length > 0 && html`<h3>Sources</h3>${renderSources(citations)}`}
${watched && renderWatched(watched)}
<p class="hint">Nothing is saved yet. This counted as one run of your quota.</p></section>`;
}

function renderAnswer({ answer, output, problems }: Trial): Html {
  if (problems.length > 0) {
    return html`<div class="notice">${renderIcon('failed')}<p><b>The answer does not match the schema.</b> A run would fail.</p><ul>${problems.map(
      (problem) => html`<li>${problem}</li>`,
    )}</ul></div>
${answer !== '' && html`<details><summary>The answer as it came</summary><pre tabindex="0">${answer}</pre></details>`}`;
  }
  return output === null ? html`<div class="answer">${renderMarkdown(answer)}</div>` : renderOutput(output);
}

function renderWatched({ values, changes }: Watched): Html {
  return html`${
    values.length > 0 &&
    html`<h3>Watched values</h3><dl class="facts output">${values.map(
      ({ path, value }) =>
        html`<dt><code>${path}</code></dt><dd>${
          value === undefined
            ? html`<span class="muted">leads nowhere in this answer</span>`
            : html`<code>${JSON.stringify(value)}</code>`
        }</dd>`,
    )}</dl>`
  }${changes && html`<p>${describeChanges(changes)}</p>`}`;
}

function describeChanges(changes: NonNullable<Watched['changes']>): Html {
  if (changes.length === 0) return html`<b>Unchanged</b> since the last success.`;
  const paths = changes.map(({ path }) => path).filter((path) => path !== '');
  const names = paths.map((path, at) => html`${at > 0 && ', '}<code>${path}</code>`);
  return html`<b>Changed</b> since the last success${paths.length > 0 && html`: ${names}`}.`;
}
