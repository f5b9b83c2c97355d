import { renderTick } from '../../../components/choices.ts';
import { type Html, html } from '../../../html.ts';
import { renderInputs } from './inputs.ts';
import type { SectionProps } from './section-props.ts';

/** What the model is given with the prompt, and a preview of it. */
export function renderContext(props: SectionProps): Html {
  const {
    values: { clock, previousResult },
    formData: { task },
    sent,
    texts,
  } = props;
  const { taskForm } = texts;
  const path = `/tasks/${task?.id ?? 'new'}`;
  const action = `${task ? `${path}/edit` : path}#knows`;
  return html`<fieldset class="ticks"><legend>${taskForm.contextLegend}</legend>
${renderTick('clock', clock, taskForm.clock, taskForm.clockHint)}
${renderTick('previousResult', previousResult, taskForm.lastAnswer, taskForm.lastAnswerHint)}
</fieldset>
${renderInputs(props)}
<details><summary>${taskForm.variables}</summary><p class="hint">${taskForm.variablesHint}</p>
<dl class="facts">${Object.entries(taskForm.variableMeanings).map(([name, meaning]) => html`<dt><code>{{${name}}}</code></dt><dd>${meaning}</dd>`)}</dl></details>
<div hx-post="${path}/sent" hx-trigger="toggle from:#knows once, change from:#knows, change from:#sources, change from:#web, change from:#prompt, change from:#name, change from:#answer, change from:#timezone" hx-target="#sent" hx-swap="innerHTML" hx-sync="this:replace"><button name="action" value="sent" formnovalidate formaction="${action}" hx-post="${path}/sent" hx-target="#sent" hx-swap="innerHTML">${taskForm.showPrompt}</button></div>
<div class="gap" id="sent" aria-live="polite">${sent}</div>`;
}
