import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../../actions.ts';
import { renderMarkdown } from '../../../components/answer/markdown.ts';
import { renderOutput } from '../../../components/answer/output.ts';
import { renderSources } from '../../../components/answer/sources.ts';
import { renderIcon } from '../../../components/status-icon.ts';
import { type Html, html } from '../../../html.ts';

type Watched = WebActionData<'tryWatch'>;

export type Trial = WebActionData<'tryPrompt'> & {
  /** Null for an answer that does not match the schema. */
  watched: Watched | null;
};

/** The answer to a prompt that was tried, with what its watched values are. */
export function renderTrial(trial: Trial, texts: Texts): Html {
  const { taskForm, formats } = texts;
  const { model, inputTokens, outputTokens, costUsd, estimated, durationMs, watched, toolUses, citations } = trial;
  const details = [
    model,
    formats.duration(durationMs),
    taskForm.trialTokens(inputTokens, outputTokens, estimated),
    taskForm.trialCost(formats.money(costUsd), estimated),
    ...(toolUses > 0 ? [taskForm.toolUses(toolUses)] : []),
  ];
  return html`<section class="panel gap" aria-labelledby="tried" id="answer-now" tabindex="-1" autofocus><div class="head"><h2 id="tried">${taskForm.trial}</h2><p>${details.join(', ')}</p></div>
${renderAnswer(trial, texts)}
${citations.length > 0 && html`<h3>${taskForm.sources}</h3>${renderSources(citations, texts)}`}
${watched && renderWatched(watched, taskForm)}
<p class="hint">${taskForm.trialCounts}</p></section>`;
}

type FormTexts = Texts['taskForm'];

function renderAnswer({ answer, output, problems }: Trial, texts: Texts): Html {
  const { taskForm } = texts;
  if (problems.length > 0) {
    return html`<div class="notice">${renderIcon('failed')}<p><b>${taskForm.mismatch}</b> ${taskForm.mismatchHint}</p><ul>${problems.map(
      (problem) => html`<li>${problem}</li>`,
    )}</ul></div>
${answer !== '' && html`<details><summary>${taskForm.originalAnswer}</summary><pre tabindex="0">${answer}</pre></details>`}`;
  }
  return output === null
    ? html`<div class="answer">${renderMarkdown(answer, texts)}</div>`
    : renderOutput(output, texts);
}

function renderWatched({ values, changes }: Watched, taskForm: FormTexts): Html {
  return html`${
    values.length > 0 &&
    html`<h3>${taskForm.fields.watch}</h3><dl class="facts output">${values.map(
      ({ path, value }) =>
        html`<dt><code>${path}</code></dt><dd>${
          value === undefined
            ? html`<span class="muted">${taskForm.notInAnswer}</span>`
            : html`<code>${JSON.stringify(value)}</code>`
        }</dd>`,
    )}</dl>`
  }${changes && html`<p>${describeChanges(changes, taskForm)}</p>`}`;
}

const strong = (text: string) => html`<b>${text}</b>`;

function describeChanges(changes: NonNullable<Watched['changes']>, taskForm: FormTexts): Html {
  if (changes.length === 0) return html`${taskForm.unchanged(strong)}`;
  const paths = changes.map(({ path }) => path).filter((path) => path !== '');
  const names = paths.map((path, at) => html`${at > 0 && ', '}<code>${path}</code>`);
  return html`${paths.length > 0 ? taskForm.changedValues(strong, html`${names}`) : taskForm.changed(strong)}`;
}
