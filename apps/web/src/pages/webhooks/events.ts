import type { EventKind } from '@carillon/contract/webhooks/events';
import type { Texts } from '@carillon/texts';
import { type FormErrors, renderError } from '../../components/fields.ts';
import { type Html, html, raw } from '../../html.ts';

type ChosenEvent = Exclude<EventKind, 'test'>;

const GROUPS = [
  { id: 'on-runs', title: 'runs', events: ['execution.completed', 'execution.failed', 'execution.started'] },
  { id: 'on-own-runs', title: 'ownRuns', events: ['task.completed', 'task.failed', 'task.started'] },
  { id: 'on-tasks', title: 'tasks', events: ['task.created', 'task.updated', 'task.deleted'] },
  {
    id: 'on-alerts',
    title: 'alerts',
    events: [
      'task.changed',
      'task.overdue',
      'task.failing',
      'task.recovered',
      'task.expensive',
      'task.slow',
      'task.degraded',
    ],
  },
  { id: 'on-account', title: 'account', events: ['usage.alert', 'scheduler.silent'] },
] as const satisfies { id: string; title: keyof Texts['events']; events: readonly ChosenEvent[] }[];

/** `Run completed, run failed` */
export function describeEvents({ events: { names } }: Texts, events: readonly EventKind[]): string {
  const text = events.map((event) => names[event]).join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const renderTick = (texts: Texts, event: ChosenEvent, isTicked: boolean) =>
  html`<label class="check"><input type="checkbox" name="events" value="${event}"${isTicked && raw(' checked')}><span>${describeEvents(texts, [event])}<span class="hint">${texts.events.hints[event]}</span></span></label>`;

/** A tick for each event. A webhook that the API has subscribed to tests keeps that. */
export function renderEventTicks(texts: Texts, ticked: readonly string[], errors: FormErrors): Html {
  const messages = Object.entries(errors.fields).flatMap(([field, found]) =>
    /^events(\.|$)/.test(field) ? found : [],
  );
  return html`<fieldset class="gap ticks"${messages.length > 0 && raw(' aria-describedby="events-error"')}><legend>${texts.webhooks.events}</legend>
${messages.length > 0 && renderError('events-error', [texts.webhooks.tickOne])}
${GROUPS.map(
  ({ id, title, events }) =>
    html`<div role="group" aria-labelledby="${id}"><p class="fine muted" id="${id}">${texts.events[title]}</p>${events.map(
      (event) => renderTick(texts, event, ticked.includes(event)),
    )}</div>`,
)}
${ticked.includes('test') && html`<input type="hidden" name="events" value="test">`}
</fieldset>`;
}
