import type { WebActionData } from '../../actions.ts';
import { type FormErrors, NO_ERRORS, renderInput } from '../../components/fields.ts';
import { toLocalTime } from '../../components/schedule/local-time.ts';
import { formatZone } from '../../components/schedule/render.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';

const WEEK_MS = 7 * 86_400_000;

/** A button that opens the form. */
export const renderPauseAll = (context: UserPageContext) =>
  html`<button type="button" popovertarget="pause-all">${context.texts.tasks.pauseAll}</button>
<div class="pop" id="pause-all" popover hx-morph-skip>${renderPauseAllForm(context, suggestTime(context), NO_ERRORS)}</div>`;

const suggestTime = ({ now, timeZone }: UserPageContext) =>
  `${toLocalTime(new Date(now.getTime() + WEEK_MS), timeZone).date}T08:00`;

/** Pauses every active task until a date, as for holidays. */
export const renderPauseAllForm = (
  { csrfField, texts: { tasks }, timeZone }: UserPageContext,
  value: string,
  errors: FormErrors,
) =>
  html`<form class="gap" method="post" action="/tasks/pause">${csrfField}<p class="hint">${tasks.pauseAllHint}</p>
${renderInput({ name: 'until', label: tasks.untilLabel(formatZone(timeZone)), type: 'datetime-local', value, required: true, errors })}
<button>${tasks.pauseAllThen}</button></form>`;

/** Says that tasks are paused until a time, and resumes them. */
export function renderPause(context: UserPageContext, pause: WebActionData<'getTaskList'>['pause']): Html {
  if (pause === null) return EMPTY;
  const { csrfField, texts } = context;
  const until = texts.formats.moment(new Date(pause.until), context);
  return html`<div class="notice info"><p>${texts.tasks.arePaused(pause.tasks, until)}</p>
<form method="post" action="/tasks/pause">${csrfField}<input type="hidden" name="resume" value="${pause.until}">
<button class="plain">${texts.tasks.resumeNow}</button></form></div>`;
}
