import type { EventKind } from '@carillon/contract/webhooks/events';
import { type FormErrors, renderError } from '../../components/fields.ts';
import { type Html, html, raw } from '../../html.ts';

/** What happened, as the name of an event says it in a sentence. */
export const EVENT_SENTENCES: Record<EventKind, string> = {
  'execution.completed': 'A run has completed. With the answer, the tokens and how long it took.',
  'execution.failed': 'A run has failed. With the error, and whether another attempt follows.',
  'execution.started': 'A run starts.',
  'task.completed': 'The same as execution.completed, but not for runs that an inbound webhook started.',
  'task.failed': 'The same as execution.failed, but not for runs that an inbound webhook started.',
  'task.started': 'The same as execution.started, but not for runs that an inbound webhook started.',
  'task.created': 'A task was made.',
  'task.updated': 'A task was changed. With the values before and after.',
  'task.deleted': 'A task was deleted.',
  'task.changed': 'The answer of a run differs from the one before. With what changed.',
  'task.overdue': 'A planned run has not ended in time.',
  'task.failing': 'Several runs in a row have failed.',
  'task.recovered': 'A run has completed after an alert.',
  'task.expensive': 'A run has cost more than its limit.',
  'task.slow': 'A run has taken longer than its limit.',
  'scheduler.silent': 'The scheduler has stopped calling. Only admins get it.',
  'usage.alert': 'Runs, tokens or storage have reached a share of the limit that you have set an alert for.',
  test: 'A test that you have asked for. It is sent without being ticked.',
};

/** For a list of webhooks. */
const EVENT_WORDS: Record<EventKind, string> = {
  'execution.completed': 'run completed',
  'execution.failed': 'run failed',
  'execution.started': 'run started',
  'task.completed': 'task completed',
  'task.failed': 'task failed',
  'task.started': 'task started',
  'task.created': 'task made',
  'task.updated': 'task changed',
  'task.deleted': 'task deleted',
  'task.changed': 'answer changed',
  'task.overdue': 'run overdue',
  'task.failing': 'task failing',
  'task.recovered': 'task recovered',
  'task.expensive': 'run expensive',
  'task.slow': 'run slow',
  'scheduler.silent': 'scheduler silent',
  'usage.alert': 'usage alert',
  test: 'test',
};

const GROUPS: readonly { id: string; title: string; events: readonly EventKind[] }[] = [
  { id: 'on-runs', title: 'Runs', events: ['execution.completed', 'execution.failed', 'execution.started'] },
  {
    id: 'on-own-runs',
    title: 'Runs, except those of inbound webhooks',
    events: ['task.completed', 'task.failed', 'task.started'],
  },
  { id: 'on-tasks', title: 'Tasks', events: ['task.created', 'task.updated', 'task.deleted'] },
  {
    id: 'on-alerts',
    title: 'Changes and alerts',
    events: ['task.changed', 'task.overdue', 'task.failing', 'task.recovered', 'task.expensive', 'task.slow'],
  },
  { id: 'on-account', title: 'Your account', events: ['usage.alert', 'scheduler.silent'] },
];

export const describeEvent = (event: EventKind): string => EVENT_WORDS[event];

/** `Run completed, run failed` */
export function describeEvents(events: readonly EventKind[]): string {
  const text = events.map(describeEvent).join(', ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

const renderTick = (event: EventKind, isTicked: boolean) =>
  html`<label class="check"><input type="checkbox" name="events" value="${event}"${isTicked && raw(' checked')}><span><code>${event}</code><span class="hint">${EVENT_SENTENCES[event]}</span></span></label>`;

/** A tick for each event. A webhook that the API has subscribed to tests keeps that. */
export function renderEventTicks(ticked: readonly string[], errors: FormErrors): Html {
  const messages = Object.entries(errors.fields).flatMap(([field, texts]) =>
    /^events(\.|$)/.test(field) ? texts : [],
  );
  return html`<fieldset class="gap ticks"${messages.length > 0 && raw(' aria-describedby="events-error"')}><legend>Send when</legend>
${messages.length > 0 && renderError('events-error', ['Tick at least one event'])}
${GROUPS.map(
  ({ id, title, events }) =>
    html`<div role="group" aria-labelledby="${id}"><p class="fine muted" id="${id}">${title}</p>${events.map((event) =>
      renderTick(event, ticked.includes(event)),
    )}</div>`,
)}
${ticked.includes('test') && html`<input type="hidden" name="events" value="test">`}
</fieldset>`;
}
