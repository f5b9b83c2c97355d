import { renderTick } from '../../../components/choices.ts';
import { type Html, html } from '../../../html.ts';
import type { SectionProps } from './section-props.ts';

const VARIABLES = [
  ['date', 'day of the planned time, such as 2026-03-24'],
  ['time', 'such as 08:00'],
  ['datetime', 'both, with the offset from UTC'],
  ['weekday', 'such as Tuesday'],
  ['timezone', 'time zone of the task'],
  ['planned_for', 'planned time in UTC'],
  ['last_success_at', 'when a run last succeeded, or never'],
  ['previous_result', 'answer of that run, or none'],
  ['task_name', 'name of the task'],
  ['attempt', '1, or more when it is tried again'],
  ['trigger', 'what started the run, such as schedule'],
  ['data.…', 'a value that an inbound webhook sent'],
] as const;

/** What the model is given beside the prompt, and what that makes of it. */
export function renderContext({ values: { clock, previousResult }, formData: { task }, sent }: SectionProps): Html {
  const path = `/tasks/${task?.id ?? 'new'}`;
  const action = `${task ? `${path}/edit` : path}#knows`;
  return html`<fieldset class="ticks"><legend>Beside the prompt it gets</legend>
${renderTick('clock', clock, 'The date and time', 'For when the run is planned in the time zone of the task, whether it is late, and when a run last succeeded.')}
${renderTick('previousResult', previousResult, 'The last answer', 'Of the last run that succeeded, at most 8,000 characters. So the model can say what is new.')}
</fieldset>
<details><summary>Names that a prompt may use</summary><p class="hint">They are replaced when a run starts. A name that does not exist stays as it is.</p>
<dl class="facts">${VARIABLES.map(([name, meaning]) => html`<dt><code>{{${name}}}</code></dt><dd>${meaning}</dd>`)}</dl></details>
<div hx-post="${path}/sent" hx-trigger="toggle from:#knows once, change from:#knows, change from:#web, change from:#prompt, change from:#name, change from:#outputSchema, change from:#timezone" hx-target="#sent" hx-swap="innerHTML" hx-sync="this:replace"><button name="action" value="sent" formnovalidate formaction="${action}" hx-post="${path}/sent" hx-target="#sent" hx-swap="innerHTML">Show what will be sent</button></div>
<div class="gap" id="sent" aria-live="polite">${sent}</div>`;
}
