import type { TaskView } from '../../actions.ts';
import { EMPTY, type Html, html } from '../../html.ts';
import type { UserPageContext } from '../../page.ts';
import { renderAttempt } from '../task-form/attempt.ts';
import { renderTrialField, type Trial } from '../task-form/trial/trial.ts';
import { isPausedUntil, renderPauseForm } from './pause-control.ts';

/** What is done often is in the row, and the rest in its menu. A refused pause is shown in the page. */
export function renderButtons(
  context: UserPageContext,
  view: TaskView,
  { isPauseRefused, trial }: { isPauseRefused: boolean; trial: Trial | undefined },
): Html {
  const { csrfField, texts } = context;
  const { tasks, forms } = texts;
  const { task, runs } = view;
  const { id, status } = task;
  const running = runs.find((run) => run.status === 'running');
  const canResume = status === 'paused' || (status === 'failed' && task.recurrence !== 'once');
  const isPaused = isPausedUntil(context, task);
  return html`<form class="do" method="post" action="/tasks/${id}">${csrfField}${renderAttempt()}
<button class="primary" name="do" value="run">${tasks.run}</button>${
    running && html`<button formaction="/executions/${running.id}/cancel">${tasks.stopRun}</button>`
  }${isPaused && html`<button name="do" value="resume" formaction="/tasks/${id}/pause">${tasks.resumeNow}</button>`}${
    status === 'active' && !isPaused && html`<button name="do" value="pause">${tasks.pause}</button>`
  }${canResume && html`<button name="do" value="resume">${tasks.resume}</button>`}<a class="button" href="/tasks/${id}/edit">${forms.edit}</a>
</form>
<button type="button" popovertarget="more">${tasks.more}</button>
<div class="pop gap" id="more" popover>
<form method="post" action="/tasks/${id}/try">${csrfField}${renderTrialField(trial)}<button class="plain" name="action" value="try">${texts.taskForm.tryNow}</button></form>${renderSkip(context, view)}${!isPauseRefused && renderPause(context, view)}
<a href="/tasks/${id}/backfill">${tasks.runMissed}</a>
<form method="post" action="/tasks/${id}/duplicate">${csrfField}<button class="plain">${tasks.duplicate}</button></form>
<a href="/tasks/${id}/template" download>${texts.templates.save}</a>
<a class="danger" href="/tasks/${id}/delete">${forms.delete}</a></div>`;
}

const renderSkip = ({ csrfField, texts }: UserPageContext, { task, next }: TaskView): Html =>
  next.length === 0
    ? EMPTY
    : html`<form method="post" action="/tasks/${task.id}/skip">${csrfField}<input type="hidden" name="plannedFor" value="${task.nextExecutionAt}"><button class="plain">${texts.tasks.skipNext}</button></form>`;

function renderPause(context: UserPageContext, view: TaskView): Html {
  const { task } = view;
  if (task.status !== 'active' || isPausedUntil(context, task)) return EMPTY;
  return html`<details class="drop" id="pause" hx-morph-skip><summary>${context.texts.tasks.pauseUntil}</summary>${renderPauseForm(context, view)}</details>`;
}
