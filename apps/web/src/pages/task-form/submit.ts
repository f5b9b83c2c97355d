import type { ActionError } from '@carillon/contract/actions/index';
import { TaskSettingsInput } from '@carillon/contract/actions/web/task-form';
import { fillBlanks } from '@carillon/contract/tasks/templates';
import { isUuid, parseId } from '@carillon/contract/validation/formats';
import { compileValidator } from '@carillon/contract/validation/validator';
import type { Texts } from '@carillon/texts';
import type { TaskFormData, WebActionData } from '../../actions.ts';
import { type Form, readForm } from '../../http/forms.ts';
import { type Page, type Redirect, redirect, type UserPageContext } from '../../page.ts';
import { storeFiles } from '../files/store.ts';
import { readAttempt } from './attempt.ts';
import { renderConflict } from './conflict.ts';
import { renderTaskForm, type TaskForm } from './form.ts';
import {
  createFormValues,
  type FormValues,
  readFormValues,
  readSchedule,
  toFormValues,
  toRecurrenceValues,
} from './form-values.ts';
import { nameTask } from './name-task.ts';
import { hasErrors, nameFields, type Problems, toTaskErrors, toTaskStatus, withProblems } from './problems.ts';
import { confirmProposal, findLiveSchedule, findProposal } from './proposal.ts';
import { type Plan, planRuns } from './schedule/plan.ts';
import { nameInputs } from './settings/inputs.ts';
import { readLimits, readSettings } from './settings/read-settings.ts';
import { createSettingsValues, toSettingsValues } from './settings/settings-values.ts';
import { findMissingTools } from './settings/web-tools.ts';
import { openForm, toProposalErrors } from './show.ts';
import { renderLook } from './sources/look.ts';
import { toSources } from './sources/source-values.ts';
import { fillSources, findEmptyBlanks, toTexts } from './template/blanks.ts';
import { renderPromptPreview } from './trial/prompt-preview.ts';
import { tryTask } from './trial/try-task.ts';

/** Shows the fields of the other form of the schedule as the typed form says it. */
export function alignForms(values: FormValues, { words, cron }: Plan, now: Date): FormValues {
  if (values.mode === 'words') return cron === null ? values : { ...values, cron };
  return words ? { ...values, ...toRecurrenceValues(words, now) } : values;
}

/** What a sent form asks for, and what it says. */
interface Submission {
  context: UserPageContext;
  form: Form;
  id: number | null;
  intent: Intent;
  values: FormValues;
  formData: TaskFormData;
  plan: Plan;
  /** Empty without one. */
  proposal: string;
  fileProblems: Problems;
  /** The same form again. */
  show: Show;
}

const INTENTS = {
  preview: showPreview,
  sent: showSentPrompt,
  look: showSources,
  try: tryPrompt,
  run: saveTask,
  save: saveTask,
};
type Intent = keyof typeof INTENTS;
const isIntent = (action: string): action is Intent => Object.hasOwn(INTENTS, action);

/** Saves a new task, or the task `id`; tries the prompt; or shows the form again with what was typed. */
export async function submitTask(context: UserPageContext, id: number | null): Promise<Page | Redirect> {
  const submission = await readSubmission(context, id);
  return INTENTS[submission.intent](submission);
}

async function readSubmission(context: UserPageContext, id: number | null): Promise<Submission> {
  const form = readForm(context.request);
  const removed = form.list('remove');
  const action = form.text('action');
  const sent = readFormValues(form);
  const kept = { ...sent, attachments: sent.attachments.filter((file) => !removed.includes(file)) };
  const { values: attached, problems } = await attachFiles(context, kept);
  const formData = await openForm(context, id, attached);
  const values = nameInputs(completeValues(context, form, attached, formData), formData.tasks);
  const proposal = form.text('proposal');
  const proposed = formData.task ? null : await findProposal(context, proposal);
  const schedule = formData.task ?? (proposed && findLiveSchedule(proposed, context.now));
  const plan = await planRuns(context, values, schedule, readLimits(values, formData.task, context.texts));
  const intent = removed.length > 0 ? 'preview' : isIntent(action) ? action : 'save';
  const fileProblems: Problems = problems.length > 0 ? { files: problems } : {};
  const show = (rest: Partial<TaskForm> = {}) =>
    renderTaskForm(context, { values: alignForms(values, plan, context.now), formData, plan, proposal, ...rest });
  return { context, form, id, intent, values, formData, plan, proposal, fileProblems, show };
}

async function showPreview({ plan, fileProblems, show }: Submission): Promise<Page> {
  const errors = withProblems({ ...plan.problems, ...fileProblems });
  return show(hasErrors(errors) ? { errors, status: 422 } : {});
}

async function showSentPrompt({ context, values, id, show }: Submission): Promise<Page> {
  return show({ sent: await renderPromptPreview(context, values, id) });
}

async function showSources({ context, values, show }: Submission): Promise<Page> {
  return show({ looked: await renderLook(context, values) });
}

function tryPrompt({ context, form, values, formData, fileProblems, show }: Submission) {
  const { settings, problems } = readInput(values, formData, context.texts);
  const asOf = parseId(form.text('asOf'));
  const trial = { settings, timezone: values.timezone, task: formData.task, after: form.optional('after'), asOf };
  return tryTask(context, { ...trial, problems: { ...problems, ...fileProblems } }, show);
}

/** Sends the prompt of a stored task. */
export async function tryStoredTask(
  context: UserPageContext,
  id: number,
  show: Parameters<typeof tryTask>[2],
): Promise<Page> {
  const formData = await openForm(context, id);
  if (!formData.task) throw new Error('openTaskForm answers the task that it is asked for.');
  const values = toFormValues(formData.task, context.now);
  const { settings, problems } = readInput(values, formData, context.texts);
  const after = readForm(context.request).optional('after');
  return tryTask(context, { settings, problems, timezone: values.timezone, task: formData.task, after }, show);
}

async function saveTask(submission: Submission): Promise<Page | Redirect> {
  const { context, form, intent, values, formData, plan, proposal, fileProblems, show } = submission;
  const { settings, problems } = readInput(values, formData, context.texts);
  const all = { ...problems, ...fileProblems, ...plan.problems };
  if (Object.keys(all).length > 0) return show({ errors: withProblems(all), status: 422 });
  if (formData.task) return saveChanges(context, Number(form.text('revision')), { values, formData, plan }, settings);
  return create(context, plan, { ...settings, ...readAttempt(form) }, { show, proposal, isRun: intent === 'run' });
}

/** The short form has a prompt and a schedule only; forms that were opened before the settings came have no settings. */
function completeValues(context: UserPageContext, form: Form, sent: FormValues, { defaultModel, task }: TaskFormData) {
  const { prompt, timezone } = sent;
  if (form.has('short')) {
    return { ...createFormValues(timezone, context.now, defaultModel ?? ''), ...readSchedule(form), prompt };
  }
  return form.has('notify') ? sent : { ...sent, ...(task ? toSettingsValues(task) : createSettingsValues()) };
}

type Show = (rest?: Partial<TaskForm>) => Promise<Page>;
const validate = compileValidator(TaskSettingsInput);

const TEMPERATURE = /^(?:[01](?:[.,]\d{1,2})?|2(?:[.,]0{1,2})?)$/;
const COUNT = /^\d{1,9}$/;

/** Numbers that are none keep their text out of the messages of the API. */
function readInput(
  values: FormValues,
  { task, webTools }: TaskFormData,
  texts: Texts,
): { settings: TaskSettingsInput; problems: Problems } {
  const { settings: optional, problems } = readSettings(values, task, texts);
  const sources = { sources: toSources(fillSources(values)) };
  const { taskForm } = texts;
  const missingTools = findMissingTools(values, webTools, texts);
  if (missingTools !== null) problems.tools = [missingTools];
  if (!TEMPERATURE.test(values.temperature)) problems.temperature = [taskForm.temperatureRange];
  if (!COUNT.test(values.maxTokens)) problems.maxTokens = [taskForm.wholeNumber(taskForm.fields.maxTokens)];
  const temperature = Math.round(Number(values.temperature.replace(',', '.')) * 100);
  const settings = {
    name: values.name.trim() || nameTask(values.prompt, texts),
    description: values.description || null,
    prompt: values.prompt,
    aiModel: values.aiModel,
    maxTokens: problems.maxTokens ? 1 : Number(values.maxTokens),
    temperature: problems.temperature ? 0 : temperature,
    attachments: [...values.attachments],
    webhookUrl: values.webhookUrl || null,
    notificationEmail: values.notificationEmail || null,
    ...optional,
  };
  const filled = { ...fillBlanks(settings, toTexts(values.blanks)), ...sources };
  const empty = findEmptyBlanks(filled, values.blanks, texts);
  const checked = validate(filled);
  const { sources: malformed, ...refused } = checked.ok ? {} : nameFields(checked.details, texts);
  const isWhole = Object.keys(empty).length === 0;
  return {
    settings: filled,
    problems: { ...refused, ...(malformed && isWhole && { sources: malformed }), ...empty, ...problems },
  };
}

/** Such as `Next run tomorrow at 08:00, in 17 hours.` */
export function describeNextRun(context: UserPageContext, at: string): string {
  const { now, texts } = context;
  const next = new Date(at);
  return texts.taskForm.nextRun(texts.formats.momentOn(next, context), texts.formats.distance(next, now));
}

interface Creation {
  show: Show;
  /** Whether the task runs at once. */
  isRun: boolean;
  /** Empty without one. */
  proposal: string;
}

async function create(
  context: UserPageContext,
  plan: Plan,
  { attempt, ...settings }: TaskSettingsInput & { attempt?: string },
  { show, proposal, isRun }: Creation,
): Promise<Page | Redirect> {
  const { schedule } = plan;
  const { actions, session, texts } = context;
  if (isUuid(proposal)) {
    const changes = { ...settings, ...(plan.isStored ? {} : schedule) };
    return confirmProposal(context, proposal, changes, (result) =>
      // Once it has expired, what is typed is a new task like any other.
      result.code === 'NOT_FOUND'
        ? create(context, plan, settings, { show, proposal: '', isRun })
        : show({ errors: toProposalErrors(result, context), status: toTaskStatus(result) }),
    );
  }
  if (!schedule) throw new Error('A plan without problems has a schedule.');
  const input = { ...settings, ...schedule, ...(attempt !== undefined && { attempt }) };
  const refuse = (result: ActionError) => show({ errors: toTaskErrors(result, texts), status: toTaskStatus(result) });
  const next = describeNextRun(context, schedule.scheduledFor);
  if (isRun) {
    const result = await actions.createTaskAndRun(session, input);
    return result.success ? goToRun(result.data, next, texts) : refuse(result);
  }
  const result = await actions.createTask(session, input);
  return result.success ? redirect(`/tasks/${result.data.taskId}`, `${texts.taskForm.saved} ${next}`) : refuse(result);
}

/** Goes to the run; to the task if a quota or the trial forbids a run. */
function goToRun(
  { taskId, executionId, refusal }: WebActionData<'createTaskAndRun'>,
  next: string,
  { taskForm }: Texts,
): Redirect {
  if (executionId !== null) return redirect(`/executions/${executionId}`, `${taskForm.savedAndRunning} ${next}`);
  return redirect(`/tasks/${taskId}`, refusal === 'trial' ? taskForm.savedTrialEnded : taskForm.savedQuotaUsed);
}

interface Edited {
  values: FormValues;
  formData: TaskFormData;
  plan: Plan;
}

async function saveChanges(
  context: UserPageContext,
  revision: number,
  { values, formData, plan }: Edited,
  settings: TaskSettingsInput,
) {
  const { texts } = context;
  const { task } = formData;
  if (!task) throw new Error('Only a stored task is saved.');
  const schedule = plan.isStored ? {} : plan.schedule;
  const input = { id: task.id, revision, ...settings, ...schedule };
  const result = await context.actions.saveTask(context.session, input);
  if (result.success) return redirect(`/tasks/${task.id}`, texts.taskForm.saved);
  const shown = { values: alignForms(values, plan, context.now), formData, plan };
  if (result.code !== 'CONFLICT') {
    return renderTaskForm(context, {
      ...shown,
      errors: toTaskErrors(result, context.texts),
      status: toTaskStatus(result),
    });
  }
  const now = await openForm(context, task.id, values);
  if (!now.task) throw new Error('Only a stored task is saved.');
  const storedPlan = await planRuns(context, toFormValues(now.task, context.now), now.task);
  return renderTaskForm(context, {
    ...shown,
    formData: now,
    status: 409,
    errors: { fields: {}, form: texts.taskForm.conflict },
    conflict: renderConflict(context, {
      values,
      settings: readSettings(values, task, texts).settings,
      plan,
      task: now.task,
      storedPlan,
      formData: now,
    }),
  });
}

/** Stores the files of the form, and adds them to the attachments. Returns what is wrong with the others. */
async function attachFiles(
  context: UserPageContext,
  values: FormValues,
): Promise<{ values: FormValues; problems: string[] }> {
  const { ids, problems } = await storeFiles(context);
  return { values: { ...values, attachments: [...values.attachments, ...ids] }, problems };
}
