import type { ActionError } from '@carillon/contract/actions/index';
import { TaskSettingsInput } from '@carillon/contract/actions/web/task-form';
import { isUuid } from '@carillon/contract/primitives';
import { compileValidator } from '@carillon/contract/validation/validator';
import { type Page, type Redirect, redirect } from '../../answer.ts';
import type { FormErrors } from '../../components/fields.ts';
import { formatDistance, formatMoment } from '../../components/format.ts';
import { readForm, readQuery } from '../../http/forms.ts';
import { type SignedInVisit, unwrap } from '../../visit.ts';
import { attachFiles } from './attach.ts';
import { renderConflict } from './conflict.ts';
import { renderTaskForm, type TaskForm } from './form.ts';
import type { OpenedForm, StoredTask } from './opened.ts';
import { hasErrors, nameFields, type Problems, toTaskErrors, toTaskStatus, withProblems } from './problems.ts';
import {
  confirmProposal,
  findLiveSchedule,
  findProposal,
  getProposal,
  goToConfirmed,
  typeProposed,
} from './proposed.ts';
import { type Plan, planRuns } from './schedule/plan.ts';
import { readLimits, readSettings } from './settings/read-settings.ts';
import { startSettings, typeSettings } from './settings/typed-settings.ts';
import { findMissingTools } from './settings/web-tools.ts';
import { renderSent } from './try/sent.ts';
import { tryTask } from './try/try-task.ts';
import { readTyped, startTyped, type Typed, typeTask, typeWords } from './typed.ts';

/** `typed`: what the form has already. */
const openForm = async (
  { actions, session }: SignedInVisit,
  id: number | null,
  { attachments, aiModel }: Pick<Typed, 'attachments'> & Partial<Pick<Typed, 'aiModel'>> = { attachments: [] },
) =>
  unwrap(
    await actions.openTaskForm(session, {
      ...(id !== null && { id }),
      attachments: [...attachments],
      ...(aiModel !== undefined && { aiModel }),
    }),
  );

/** A link may propose a name and a prompt, or name a proposal of the agent. */
export function showNewTask(visit: SignedInVisit): Promise<Page | Redirect> {
  const { name = '', prompt = '', proposal } = readQuery(visit.request);
  return proposal === undefined ? proposeTask(visit, { name, prompt }) : showProposedTask(visit, proposal);
}

/** The form of a proposed task, with why it was not saved. */
export async function showProposedTask(
  visit: SignedInVisit,
  id: string,
  refusal?: ActionError,
): Promise<Page | Redirect> {
  const refused = refusal && { errors: toProposalErrors(refusal), status: toTaskStatus(refusal) };
  const proposal = await getProposal(visit, id);
  if (proposal.isConfirmed) return goToConfirmed(proposal);
  const { aiModel, attachments = [] } = proposal.task;
  const opened = await openForm(visit, null, { attachments, ...(aiModel !== undefined && { aiModel }) });
  const typed = typeProposed(proposal.task, visit.now, opened.defaultModel ?? '');
  const plan = await planRuns(visit, typed, findLiveSchedule(proposal, visit.now), readLimits(typed, null));
  return renderTaskForm(visit, { typed, opened, plan, proposal: id, ...refused });
}

/** The time of a proposal may have passed. */
function toProposalErrors(refusal: ActionError): FormErrors {
  const { fields, form } = toTaskErrors(refusal);
  return { fields: { ...fields, ...(fields.at && { at: ['The first run has passed: choose another time'] }) }, form };
}

/** The form of a new task with these values. */
export async function proposeTask(
  visit: SignedInVisit,
  { name, prompt }: { name: string; prompt: string },
): Promise<Page> {
  const opened = await openForm(visit, null);
  const typed = { ...startTyped(visit.timeZone, visit.now, opened.defaultModel ?? ''), name, prompt };
  return renderTaskForm(visit, { typed, opened, plan: await planRuns(visit, typed, null) });
}

export async function showStoredTask(visit: SignedInVisit, id: number): Promise<Page> {
  const opened = await openForm(visit, id);
  if (!opened.task) throw new Error('openTaskForm answers the task that it is asked for.');
  const typed = typeTask(opened.task, visit.now);
  const plan = await planRuns(visit, typed, opened.task, readLimits(typed, opened.task));
  return renderTaskForm(visit, { typed, opened, plan });
}

/** Shows the fields of the other form of the schedule as the typed form says it. */
export function alignForms(typed: Typed, { words, cron }: Plan): Typed {
  if (typed.mode === 'words') return cron === null ? typed : { ...typed, cron };
  return words ? { ...typed, ...typeWords(words) } : typed;
}

/** Saves a new task, or the task `id`; tries the prompt; or shows the form again with what was typed. */
export async function submitTask(visit: SignedInVisit, id: number | null): Promise<Page | Redirect> {
  const form = readForm(visit.request);
  const removed = form.list('remove');
  const sent = readTyped(form);
  const kept = { ...sent, attachments: sent.attachments.filter((file) => !removed.includes(file)) };
  const { typed: attached, problems: fileProblems } = await attachFiles(visit, kept);
  const opened = await openForm(visit, id, attached);
  const typed = form.has('notify') ? attached : { ...attached, ...keepSettings(opened.task) };
  const proposal = form.text('proposal');
  const proposed = opened.task ? null : await findProposal(visit, proposal);
  const schedule = opened.task ?? (proposed && findLiveSchedule(proposed, visit.now));
  const plan = await planRuns(visit, typed, schedule, readLimits(typed, opened.task));
  const fileErrors: Problems = fileProblems.length > 0 ? { files: fileProblems } : {};
  const show = (rest: Partial<TaskForm> = {}) =>
    renderTaskForm(visit, { typed: alignForms(typed, plan), opened, plan, proposal, ...rest });

  const action = form.text('action');
  if (removed.length > 0 || action === 'preview') {
    const errors = withProblems({ ...plan.problems, ...fileErrors });
    return show(hasErrors(errors) ? { errors, status: 422 } : {});
  }
  if (action === 'sent') return show({ sent: await renderSent(visit, typed, id) });
  const input = readInput(typed, opened);
  const problems = { ...input.problems, ...fileErrors };
  if (action === 'try') {
    return tryTask(visit, { ...input, problems, timezone: typed.timezone, task: opened.task }, show);
  }

  const all = { ...problems, ...plan.problems };
  if (Object.keys(all).length > 0) return show({ errors: withProblems(all), status: 422 });
  return opened.task
    ? saveTyped(visit, Number(form.text('revision')), { typed, opened, plan }, input.settings)
    : createTyped(visit, plan, input.settings, { show, proposal });
}

/** For forms that were opened before these fields came. */
const keepSettings = (task: StoredTask | null) => (task ? typeSettings(task) : startSettings());

type Show = (rest?: Partial<TaskForm>) => Page;
const validate = compileValidator(TaskSettingsInput);

const TEMPERATURE = /^(?:[01](?:[.,]\d{1,2})?|2(?:[.,]0{1,2})?)$/;
const COUNT = /^\d{1,9}$/;

/** Numbers that are none keep their text out of the messages of the API. */
function readInput(typed: Typed, { task, webTools }: OpenedForm): { settings: TaskSettingsInput; problems: Problems } {
  const { settings: optional, problems } = readSettings(typed, task);
  const missingTools = findMissingTools(typed, webTools);
  if (missingTools !== null) problems.tools = [missingTools];
  if (!TEMPERATURE.test(typed.temperature)) problems.temperature = ['Temperature must be a number from 0.00 to 2.00'];
  if (!COUNT.test(typed.maxTokens)) problems.maxTokens = ['Longest answer must be a whole number of tokens'];
  const temperature = Math.round(Number(typed.temperature.replace(',', '.')) * 100);
  const settings = {
    name: typed.name,
    description: typed.description || null,
    prompt: typed.prompt,
    aiModel: typed.aiModel,
    maxTokens: problems.maxTokens ? 1 : Number(typed.maxTokens),
    temperature: problems.temperature ? 0 : temperature,
    attachments: [...typed.attachments],
    webhookUrl: typed.webhookUrl || null,
    notificationEmail: typed.notificationEmail || null,
    ...optional,
  };
  const checked = validate(settings);
  return { settings, problems: checked.ok ? problems : { ...nameFields(checked.details), ...problems } };
}

/** Such as `First run tomorrow 08:00, in 17 h.` */
export function describeFirstRun({ now, timeZone }: SignedInVisit, at: string): string {
  const first = new Date(at);
  return `The next run is ${formatMoment(first, timeZone, now)}, ${formatDistance(first, now)}.`;
}

interface Creation {
  show: Show;
  /** Empty without one. */
  proposal: string;
}

async function createTyped(
  visit: SignedInVisit,
  plan: Plan,
  settings: TaskSettingsInput,
  { show, proposal }: Creation,
): Promise<Page | Redirect> {
  const { schedule } = plan;
  if (isUuid(proposal)) {
    const changes = { ...settings, ...(plan.isStored ? {} : schedule) };
    return confirmProposal(visit, proposal, changes, (result) =>
      // Once it has expired, what is typed is a new task like any other.
      result.code === 'NOT_FOUND'
        ? createTyped(visit, plan, settings, { show, proposal: '' })
        : show({ errors: toProposalErrors(result), status: toTaskStatus(result) }),
    );
  }
  if (!schedule) throw new Error('A plan without problems has a schedule.');
  const result = await visit.actions.createTask(visit.session, { ...settings, ...schedule });
  if (result.success) {
    const { taskId } = result.data;
    return redirect(`/tasks/${taskId}`, `The task is saved. ${describeFirstRun(visit, schedule.scheduledFor)}`);
  }
  return show({ errors: toTaskErrors(result), status: toTaskStatus(result) });
}

interface Edited {
  typed: Typed;
  opened: OpenedForm;
  plan: Plan;
}

async function saveTyped(
  visit: SignedInVisit,
  revision: number,
  { typed, opened, plan }: Edited,
  settings: TaskSettingsInput,
) {
  const { task } = opened;
  if (!task) throw new Error('Only a stored task is saved.');
  const schedule = plan.isStored ? {} : plan.schedule;
  const input = { id: task.id, revision, ...settings, ...schedule };
  const result = await visit.actions.saveTask(visit.session, input);
  if (result.success) return redirect(`/tasks/${task.id}`, 'The task is saved.');
  const shown = { typed: alignForms(typed, plan), opened, plan };
  if (result.code !== 'CONFLICT') {
    return renderTaskForm(visit, { ...shown, errors: toTaskErrors(result), status: toTaskStatus(result) });
  }
  const now = await openForm(visit, task.id, typed);
  if (!now.task) throw new Error('Only a stored task is saved.');
  const storedPlan = await planRuns(visit, typeTask(now.task, visit.now), now.task);
  return renderTaskForm(visit, {
    ...shown,
    opened: now,
    status: 409,
    errors: { fields: {}, form: 'This task was changed after you opened it, maybe by you in another tab.' },
    conflict: renderConflict({
      typed,
      settings: readSettings(typed, task).settings,
      plan,
      task: now.task,
      storedPlan,
      opened: now,
      now: visit.now,
    }),
  });
}
