import { type FormErrors, NO_ERRORS, renderInput } from '../../components/fields.ts';
import { toLocalTime } from '../../components/schedule/local-time.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import type { TaskView } from './task-view.ts';

const DAY_MS = 86_400_000;

/** What a person has typed, and why it is refused. */
export interface RefusedPause {
  values: string;
  errors: FormErrors;
}

/** Whether nothing is planned before a time to come. */
export const isPausedUntil = ({ now }: UserPageContext, { pausedUntil, status }: TaskView['task']): boolean =>
  status === 'active' && pausedUntil !== null && new Date(pausedUntil) > now;

/** Pauses a task until a date, or ends such a pause. */
export function renderPauseControl(context: UserPageContext, { task }: TaskView, refused?: RefusedPause): Html {
  const { id, status, timezone } = task;
  const { csrfField, now } = context;
  const { tasks } = context.texts;
  if (status !== 'active') return EMPTY;
  const action = `/tasks/${id}/pause`;
  if (isPausedUntil(context, task) && !refused) {
    return html`<form method="post" action="${action}">${csrfField}<button name="do" value="resume">${tasks.resumeNow}</button></form>`;
  }
  const tomorrow = toLocalTime(new Date(now.getTime() + DAY_MS), timezone).date;
  return html`<details class="drop" id="pause" hx-morph-skip${refused && raw(' open')}><summary class="button">${tasks.pauseUntil}</summary>
<form class="sentence" method="post" action="${action}">${csrfField}<input type="hidden" name="timezone" value="${timezone}">
${renderInput({
  name: 'pausedUntil',
  label: tasks.untilLabel(formatZone(timezone)),
  type: 'datetime-local',
  value: refused?.values ?? `${tomorrow}T08:00`,
  required: true,
  errors: refused?.errors ?? NO_ERRORS,
})}<button>${tasks.pauseUntilThen}</button></form></details>`;
}
