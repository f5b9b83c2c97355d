import type { TaskView } from '../../actions.ts';
import {
  type FormErrors,
  NO_ERRORS,
  renderFormError,
  renderInput,
  toFormErrors,
  toStatus,
} from '../../components/fields.ts';
import { formatLocalTime, parseLocalTime } from '../../components/schedule/local-time.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { html } from '../../html.ts';
import { readForm } from '../../http/forms.ts';
import { readId } from '../../http/path-ids.ts';
import { type Page, type PageResponse, redirect, type UserPageContext, unwrap } from '../../page.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A period as the fields have it: minutes in the zone of the task. */
interface FormValues {
  from: string;
  to: string;
}

/** Asks for the period whose missed runs are filled in. */
export async function openBackfill(context: UserPageContext): Promise<Page> {
  const id = readId(context);
  const view = unwrap(await context.actions.getTaskPage(context.session, { id }));
  return renderPage(context, view, suggestPeriod(context, view), NO_ERRORS);
}

/** Queues a run for each instant of the period that has had none. */
export async function backfill(context: UserPageContext): Promise<PageResponse> {
  const id = readId(context);
  const { actions, session, now, texts } = context;
  const { tasks } = texts;
  const view = unwrap(await actions.getTaskPage(session, { id }));
  const form = readForm(context.request);
  const values = { from: form.text('from').trim(), to: form.text('to').trim() };
  const from = parseLocalTime(values.from, view.task.timezone);
  const until = parseLocalTime(values.to, view.task.timezone);
  if (from === null || until === null) {
    const missing = [tasks.dateMissing];
    const fields = { ...(from === null ? { from: missing } : {}), ...(until === null ? { to: missing } : {}) };
    return { ...renderPage(context, view, values, { fields, form: null }), status: 422 };
  }
  // The minute that was typed is part of the period, as far as it has passed.
  const to = until <= now ? new Date(Math.min(until.getTime() + MINUTE_MS - 1, now.getTime())) : until;
  const result = await actions.backfillTask(session, { id, from: from.toISOString(), to: to.toISOString() });
  if (!result.success)
    return { ...renderPage(context, view, values, toFormErrors(result, texts)), status: toStatus(result) };
  const { queued } = result.data;
  return redirect(`/tasks/${id}`, queued === 0 ? tasks.noneMissing : tasks.missedQueued(queued));
}

const WITHOUT_RUN: readonly string[] = ['missed', 'skipped_overlap', 'over_budget'];

/** From the first run of the page that was missed, or the last day. */
function suggestPeriod({ now }: UserPageContext, { planned, task }: TaskView): FormValues {
  const missed = planned.find(({ fate }) => WITHOUT_RUN.includes(fate));
  const format = (at: Date) => formatLocalTime(at, task.timezone);
  return { from: format(missed ? new Date(missed.plannedFor) : new Date(now.getTime() - DAY_MS)), to: format(now) };
}

function renderPage(
  { csrfField, texts }: UserPageContext,
  { task }: TaskView,
  values: FormValues,
  errors: FormErrors,
): Page {
  const { tasks, forms } = texts;
  const zone = formatZone(task.timezone);
  const field = (name: 'from' | 'to', label: string) =>
    renderInput({ name, label, type: 'datetime-local', value: values[name], required: true, errors });
  return {
    title: tasks.runMissed,
    breadcrumb: { href: `/tasks/${task.id}`, text: task.name },
    body: html`<form class="panel gap narrow" method="post" action="/tasks/${task.id}/backfill">${csrfField}
${renderFormError(errors, texts)}
<p>${tasks.runMissedText}</p>
${field('from', tasks.missedFrom(zone))}
${field('to', tasks.missedTo(zone))}
<div class="do"><button class="primary">${tasks.runMissed}</button><a class="button quiet" href="/tasks/${task.id}">${forms.cancel}</a></div>
</form>`,
  };
}
