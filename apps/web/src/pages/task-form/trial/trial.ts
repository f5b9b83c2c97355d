import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../../actions.ts';
import { renderMarkdown } from '../../../components/answer/markdown.ts';
import { renderOutput } from '../../../components/answer/output.ts';
import { renderSources } from '../../../components/answer/sources.ts';
import { type FormErrors, NO_ERRORS } from '../../../components/fields.ts';
import { renderIcon } from '../../../components/status-icon.ts';
import { type Html, html } from '../../../html.ts';
import { ASSET_URLS } from '../../../http/assets.ts';
import type { UserPageContext } from '../../../page.ts';
import { renderProblems } from '../problems.ts';

type Watched = WebActionData<'tryWatch'>;

export type Trial = WebActionData<'tryPrompt'> & {
  /** Null for an answer that does not match the schema. */
  watched: Watched | null;
};

/** The result of a trial: its answer, or the reason for having none. */
export interface TrialOutcome {
  errors?: FormErrors | undefined;
  /** What was not done. */
  failure?: string | undefined;
  trial?: Trial | undefined;
}

export const TRIAL_SCRIPTS = [ASSET_URLS.streamAnswer, ASSET_URLS.tryPrompt, ASSET_URLS.clock];

/** The trial on the page, beyond which another answer is asked for. */
export const renderTrialField = (trial?: Trial): Html =>
  html`<input type="hidden" name="after" value="${trial?.id}" hx-morph-skip>`;

/** Above the form, where a script puts the answer as it arrives. */
export const renderOutcome = (context: UserPageContext, outcome: TrialOutcome): Html =>
  html`<div class="gap" id="outcome" aria-live="polite" hx-morph-skip>${renderAnswer(context, outcome)}</div>
<template id="trial"><section class="panel gap" aria-labelledby="tried" aria-busy="true" tabindex="-1"><div class="head"><h2 id="tried">${context.texts.taskForm.trial}</h2><p><span data-state>${context.texts.taskForm.trying}</span> <span aria-hidden="true" data-elapsed="0"></span></p></div><div class="plain-text" data-lost="${context.texts.taskForm.trialLost}"></div></section></template>`;

/** What a script gets at the end. */
export const renderAnswer = (
  context: UserPageContext,
  { errors = NO_ERRORS, failure = '', trial }: TrialOutcome,
): Html => html`${renderProblems(errors, failure)}${trial && renderTrial(context, trial)}`;

/** The answer to a prompt that was tried, with what its watched values are. */
function renderTrial(context: UserPageContext, trial: Trial): Html {
  const { texts } = context;
  const { taskForm, formats } = texts;
  const {
    model,
    inputTokens,
    outputTokens,
    costUsd,
    estimated,
    durationMs,
    watched,
    toolUses,
    citations,
    id,
    answeredAt,
  } = trial;
  const details = [
    model,
    formats.duration(durationMs),
    taskForm.trialTokens(inputTokens, outputTokens, estimated),
    taskForm.trialCost(formats.money(costUsd), estimated),
    ...(toolUses > 0 ? [taskForm.toolUses(toolUses)] : []),
    formats.momentOn(new Date(answeredAt), context),
  ];
  return html`<section class="panel gap" aria-labelledby="tried" id="answer-now" tabindex="-1" autofocus data-trial="${id}"><div class="head"><h2 id="tried">${taskForm.trial}</h2><p>${details.join(', ')}</p></div>
${renderText(trial, texts)}
${citations.length > 0 && html`<h3>${taskForm.sources}</h3>${renderSources(citations, texts)}`}
${watched && renderWatched(watched, taskForm)}
<p class="hint">${taskForm.trialCounts}</p></section>`;
}

type FormTexts = Texts['taskForm'];

function renderText({ answer, output, problems }: Trial, texts: Texts): Html {
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
