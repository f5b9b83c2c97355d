import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import { describeSchedule } from '../../components/schedule/recurrence-text.ts';
import { type Html, html } from '../../html.ts';
import { describeLacks } from '../task-form/template/blanks.ts';

export type Templates = WebActionData<'listTemplates'>;
type Template = Templates['templates'][number];

/** Links to the form, each with its schedule and what this installation does not have for it. */
export const renderCards = (templates: readonly Template[], missing: Templates['missing'], texts: Texts): Html =>
  html`<ul class="cards">${templates.map((template) => html`<li>${renderCard(template, missing, texts)}</li>`)}</ul>`;

function renderCard({ id, name, purpose, needs, task }: Template, missing: Templates['missing'], texts: Texts): Html {
  const { recurrence, recurrencePattern = null, interval, timezone } = task;
  const schedule = describeSchedule({ scheduledFor: '', recurrence, recurrencePattern, interval, timezone }, texts);
  const lacks = missing.filter((need) => needs.includes(need));
  return html`<a class="template" href="/tasks/new?template=${id}"><b>${name}</b><span class="muted">${purpose}</span>${
    lacks.length > 0 && html`<span class="fine lacks">${texts.templates.without(describeLacks(lacks, texts))}</span>`
  }<span class="fine"><span class="dot"></span>${schedule ?? recurrencePattern}</span></a>`;
}
