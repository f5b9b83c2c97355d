import type { TemplateNeed } from '@carillon/contract/tasks/templates';
import type { Texts } from '@carillon/texts';
import type { TaskFormData } from '../../actions.ts';
import { NO_ERRORS, renderSelect } from '../../components/fields.ts';
import { EMPTY, type Html, html, raw } from '../../html.ts';
import { ASSET_URLS } from '../../http/assets.ts';
import { readForm } from '../../http/forms.ts';
import type { Page, UserPageContext } from '../../page.ts';
import { renderAttempt, renderScriptTexts } from './attempt.ts';
import type { FormValues } from './form-values.ts';
import { renderPromptField, renderProviderNotice } from './prompt.ts';
import { estimateCost, renderCost } from './schedule/cost.ts';
import { renderScheduleFields } from './schedule/fields.ts';
import type { Plan } from './schedule/plan.ts';
import { renderRuns } from './schedule/runs.ts';
import { renderGroups } from './settings/groups.ts';
import { renderSources } from './sources/fields.ts';
import { renderBlanks, renderLacks } from './template/blanks.ts';
import { renderAnswer, renderOutcome, renderTrialField, TRIAL_SCRIPTS, type TrialOutcome } from './trial/trial.ts';

export interface TaskForm extends TrialOutcome {
  values: FormValues;
  formData: TaskFormData;
  plan: Plan;
  status?: number;
  /** What would be sent. */
  sent?: Html | undefined;
  /** What the sources say. */
  looked?: Html | undefined;
  /** What another person has saved since. */
  conflict?: Html | undefined;
  /** Whether a remark is at the end of the prompt that is not saved yet. */
  hasRemark?: boolean;
  /** What a template uses and this installation does not have. */
  lacks?: readonly TemplateNeed[];
  /** The id of the proposal that a new task is made from. */
  proposal?: string | undefined;
}

/** Why the runs of a stored task are not planned. */
function describeState({ task }: TaskFormData, { taskForm }: Texts): string | null {
  if (task?.status === 'paused') return taskForm.paused;
  return task?.status === 'failed' || task?.status === 'completed' ? taskForm.ended : null;
}

async function renderPreview(
  context: UserPageContext,
  plan: Plan,
  values: FormValues,
  formData: TaskFormData,
): Promise<Html> {
  const { texts } = context;
  const { id, plannedRuns = 0 } = formData.task ?? {};
  const cost = await estimateCost(context, values, plan, { id, plannedRuns });
  const state = describeState(formData, texts);
  return html`<aside aria-labelledby="preview"><div class="panel"><div class="head"><h2 id="preview">${texts.taskForm.preview}</h2><button class="plain" name="action" value="preview" formnovalidate>${texts.taskForm.update}</button></div>
<div id="runs" aria-live="polite">${renderRuns(context, plan, values.timezone)}${renderCost(context, cost)}</div>${state !== null && html`<p class="note">${state}</p>`}</div></aside>`;
}

/** The first button of a form is the one that the Enter key presses. */
const enterKey = (text: string) =>
  html`<button class="vh" tabindex="-1" aria-hidden="true" name="action" value="save">${text}</button>`;

/** The runs whose time, data and earlier results a trial may use. */
function renderAsOf(context: UserPageContext, { runs }: TaskFormData): Html {
  if (runs.length === 0) return EMPTY;
  const { request, texts } = context;
  const { taskForm, formats } = texts;
  const options = runs.map(({ id, at }) => ({
    value: String(id),
    text: taskForm.asOfRun(formats.momentLabel(new Date(at), context)),
  }));
  const value = request.method === 'POST' ? readForm(request).text('asOf') : '';
  return html`<div class="sentence">${renderSelect({ name: 'asOf', label: taskForm.asOf, options: [{ value: '', text: taskForm.asOfNow }, ...options], value, errors: NO_ERRORS })}</div>`;
}

function renderButtons(
  { taskForm, forms }: Texts,
  save: string,
  { isConflict, hasBlanks, address }: { isConflict: boolean; hasBlanks: boolean; address: string | null },
): Html {
  return html`<div class="do"><button${!hasBlanks && raw(' class="primary"')} name="action" value="save">${save}</button>${
    isConflict && html`<a class="button" href="${address}/edit">${taskForm.takeStored}</a>`
  }<button name="action" value="try" formnovalidate>${taskForm.tryNow}</button><a class="button quiet" href="${address ?? '/tasks'}">${forms.cancel}</a></div>`;
}

/** The page of the form, for a new task or a stored one. */
export async function renderTaskForm(context: UserPageContext, form: TaskForm): Promise<Page> {
  const { csrfField, now, timeZone, texts } = context;
  const { taskForm, navigation } = texts;
  const {
    values,
    formData,
    plan,
    errors = NO_ERRORS,
    status = 200,
    trial,
    sent,
    looked,
    conflict,
    proposal,
    hasRemark = false,
    lacks = [],
  } = form;
  const outcome = { errors, failure: form.failure ?? taskForm.notSaved, trial };
  const { task } = formData;
  const address = task && `/tasks/${task.id}`;
  const save = conflict === undefined ? taskForm.save : taskForm.saveMine;
  const hidden = html`${csrfField}${renderAttempt()}${renderTrialField(trial)}${task && html`<input type="hidden" name="task" value="${task.id}"><input type="hidden" name="revision" value="${task.revision}">`}${proposal && html`<input type="hidden" name="proposal" value="${proposal}">`}${enterKey(save)}`;
  return {
    title: task ? taskForm.edit(task.name) : taskForm.newTask,
    breadcrumb: task ? { href: address ?? '', text: task.name } : { href: '/tasks', text: navigation.tasks },
    subtitle: task
      ? undefined
      : proposal
        ? taskForm.proposed
        : values.blanks.length > 0
          ? texts.templates.formSubtitle
          : taskForm.subtitle,
    aside: task || proposal ? undefined : html`<a class="button" href="/templates">${texts.templates.start}</a>`,
    status,
    scripts: [ASSET_URLS.attach, ASSET_URLS.taskForm, ...TRIAL_SCRIPTS],
    answer: renderAnswer(context, outcome),
    body: html`${renderOutcome(context, outcome)}${conflict}${hasRemark && html`<div class="notice info"><p role="status">${taskForm.remarkAdded}</p></div>`}
<form class="split steps" id="task-form" method="post" enctype="multipart/form-data" action="${address ? `${address}/edit` : '/tasks/new'}"${renderScriptTexts(texts)}${status === 200 && !trial && !sent && !looked && !hasRemark && raw(' data-fresh')}>
${hidden}<section class="gap">${renderProviderNotice(context, formData)}${renderLacks(lacks, texts)}${renderBlanks(values.blanks, errors, texts)}
${renderPromptField({ prompt: values.prompt, rows: 8, errors, texts })}
${renderSources({ values, formData, errors, now, sent, looked, texts })}</section>
${renderScheduleFields(values, plan, [timeZone], errors, texts)}
${await renderPreview(context, plan, values, formData)}
${renderGroups({ values, formData, errors, now, sent, texts })}
${renderAsOf(context, formData)}
${renderButtons(texts, save, { isConflict: conflict !== undefined, hasBlanks: values.blanks.length > 0, address })}
</form>`,
  };
}
