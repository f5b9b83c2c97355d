import { type FormErrors, NO_ERRORS } from '../../components/fields.ts';
import { type Html, html } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import type { Page, UserPageContext } from '../../page.ts';
import type { TaskFormData } from './form-data.ts';
import type { FormValues } from './form-values.ts';
import { renderProblems } from './problems.ts';
import { renderPromptFields } from './prompt.ts';
import { renderScheduleFields } from './schedule/fields.ts';
import type { Plan } from './schedule/plan.ts';
import { renderRuns } from './schedule/runs.ts';
import { renderGroups } from './settings/groups.ts';
import { renderModelFields, renderNotificationFields } from './settings/model.ts';
import { renderTrial, type Trial } from './trial/trial.ts';

export interface TaskForm {
  values: FormValues;
  formData: TaskFormData;
  plan: Plan;
  errors?: FormErrors;
  status?: number;
  /** What was not done, for the notice. */
  failure?: string;
  trial?: Trial | undefined;
  /** What would be sent. */
  sent?: Html | undefined;
  /** What another person has saved meanwhile. */
  conflict?: Html | undefined;
  /** The id of the proposal that a new task is made from. */
  proposal?: string | undefined;
}

/** Why the runs of a stored task are not planned. */
function describeState({ task }: TaskFormData): string | null {
  if (task?.status === 'paused') return 'The task is paused: these runs take place when you resume it.';
  return task?.status === 'failed' || task?.status === 'completed'
    ? 'The task has ended. With another schedule it starts again.'
    : null;
}

function renderPreview(plan: Plan, { timezone }: FormValues, formData: TaskFormData, now: Date): Html {
  const state = describeState(formData);
  return html`<aside aria-labelledby="preview"><div class="panel"><div class="head"><h2 id="preview">It will run</h2><button class="plain" name="action" value="preview" formnovalidate>Update</button></div>
<div id="runs" aria-live="polite">${renderRuns(plan, timezone, now)}</div>${state !== null && html`<p class="note">${state}</p>`}</div></aside>`;
}

/** The first button of a form is the one that the Enter key presses. */
const enterKey = (text: string) =>
  html`<button class="vh" tabindex="-1" aria-hidden="true" name="action" value="save">${text}</button>`;

function renderButtons(isConflict: boolean, address: string | null): Html {
  const save = isConflict ? 'Save mine over it' : 'Save task';
  return html`<div class="do"><button class="primary" name="action" value="save">${save}</button>${
    isConflict && html`<a class="button" href="${address}/edit">Take the stored one</a>`
  }<button name="action" value="try" formnovalidate>Try it now</button><a class="button quiet" href="${address ?? '/tasks'}">Cancel</a></div>`;
}

const PROPOSED = 'This is what the agent proposes. Change what you like, then save it.';

/** The page of the form, for a new task or a stored one. */
export function renderTaskForm({ csrfField, now, timeZone, texts }: UserPageContext, form: TaskForm): Page {
  const { values, formData, plan, errors = NO_ERRORS, status = 200, failure, trial, sent, conflict, proposal } = form;
  const { task } = formData;
  const address = task && `/tasks/${task.id}`;
  const save = conflict === undefined ? 'Save task' : 'Save mine over it';
  const hidden = html`${csrfField}${task && html`<input type="hidden" name="revision" value="${task.revision}">`}${proposal && html`<input type="hidden" name="proposal" value="${proposal}">`}${enterKey(save)}`;
  return {
    title: task ? `Edit ${task.name}` : 'New task',
    breadcrumb: task ? { href: address ?? '', text: task.name } : { href: '/tasks', text: 'Tasks' },
    subtitle: task ? undefined : proposal ? PROPOSED : 'A prompt, and when to run it. All else has a default.',
    status,
    scripts: [ASSET_URLS.attach],
    body: html`${renderProblems(errors, failure)}${conflict}${trial && renderTrial(trial)}
<form class="split steps" id="task-form" method="post" enctype="multipart/form-data" action="${address ? `${address}/edit` : '/tasks/new'}">
${renderPromptFields(values, formData, errors, hidden)}
${renderScheduleFields(values, plan, [timeZone], errors)}
${renderPreview(plan, values, formData, now)}
${renderModelFields(values, formData, errors)}
${renderNotificationFields(values, errors)}
${renderGroups({ values, formData, errors, now, texts, sent })}
${renderButtons(conflict !== undefined, address)}
</form>`,
  };
}
