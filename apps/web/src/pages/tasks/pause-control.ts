import type { TaskView } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderInput } from '../../components/fields.ts';
import { toLocalTime } from '../../components/schedule/local-time.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { type Html, html, raw } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

const DAY_MS = 86_400_000;

/** What a person has typed, and why it is refused. */
export interface RefusedPause {
  values: string;
  errors: FormErrors;
}

/** Whether nothing is planned before a time to come. */
export const isPausedUntil = ({ now }: UserPageContext, { pausedUntil, status }: TaskView['task']): boolean =>
  status === 'active' && pausedUntil !== null && new Date(pausedUntil) > now;

/** Pauses a task until a date. */
export function renderPauseForm(context: UserPageContext, { task }: TaskView, refused?: RefusedPause): Html {
  const { id, timezone } = task;
  const { csrfField, now } = context;
  const { tasks } = context.texts;
  const tomorrow = toLocalTime(new Date(now.getTime() + DAY_MS), timezone).date;
  return html`<form class="sentence" method="post" action="/tasks/${id}/pause">${csrfField}<input type="hidden" name="timezone" value="${timezone}">
${renderInput({
  name: 'pausedUntil',
  label: tasks.untilLabel(formatZone(timezone)),
  type: 'datetime-local',
  value: refused?.values ?? `${tomorrow}T08:00`,
  required: true,
  ...(refused && { attributes: raw('autofocus') }),
  errors: refused?.errors ?? NO_ERRORS,
})}<button>${tasks.pauseUntilThen}</button></form>`;
}
