import type { ActionError } from '@carillon/contract/actions/index';
import { DAY_MS } from '@carillon/contract/primitives';
import type { Template } from '@carillon/contract/tasks/templates';
import { parseId } from '@carillon/contract/validation/formats';
import type { FormErrors } from '../../components/fields.ts';
import { readQuery } from '../../http/forms.ts';
import { ActionFailed, type Page, type Redirect, type UserPageContext, unwrap } from '../../page.ts';
import { renderTaskForm } from './form.ts';
import { createFormValues, type FormValues, toFormValues } from './form-values.ts';
import { toTaskErrors, toTaskStatus } from './problems.ts';
import { findLiveSchedule, getProposal, goToConfirmed, toProposalValues } from './proposal.ts';
import { planRuns } from './schedule/plan.ts';
import { readLimits } from './settings/read-settings.ts';
import { omitMissing } from './template/omit-missing.ts';

/** What the form offers, with the task `id` and the files and the model that are typed already. */
export const openForm = async (
  { actions, session }: UserPageContext,
  id: number | null,
  { attachments, aiModel }: Pick<FormValues, 'attachments'> & Partial<Pick<FormValues, 'aiModel'>> = {
    attachments: [],
  },
) =>
  unwrap(
    await actions.openTaskForm(session, {
      ...(id !== null && { id }),
      attachments: [...attachments],
      ...(aiModel && { aiModel }),
    }),
  );

/** A link may propose a name and a prompt, or name a template or a proposal of the agent. */
export function showNewTask(context: UserPageContext): Promise<Page | Redirect> {
  const { name = '', prompt = '', proposal, template } = readQuery(context.request);
  if (template !== undefined) return showNamedTemplate(context, template);
  return proposal === undefined ? proposeTask(context, { name, prompt }) : showProposedTask(context, proposal);
}

/** The form of a proposed task, with why it was not saved. */
export async function showProposedTask(
  context: UserPageContext,
  id: string,
  refusal?: ActionError,
): Promise<Page | Redirect> {
  const refused = refusal && { errors: toProposalErrors(refusal, context), status: toTaskStatus(refusal) };
  const proposal = await getProposal(context, id);
  if (proposal.isConfirmed) return goToConfirmed(context, proposal);
  const { aiModel, attachments = [] } = proposal.task;
  const formData = await openForm(context, null, { attachments, ...(aiModel !== undefined && { aiModel }) });
  const values = toProposalValues(context, proposal.task, formData.defaultModel ?? '');
  const plan = await planRuns(
    context,
    values,
    findLiveSchedule(proposal, context.now),
    readLimits(values, null, context.texts),
  );
  return renderTaskForm(context, { values, formData, plan, proposal: id, ...refused });
}

/** The time of a proposal may have passed. */
export function toProposalErrors(refusal: ActionError, { texts }: UserPageContext): FormErrors {
  const { fields, form } = toTaskErrors(refusal, texts);
  return { fields: { ...fields, ...(fields.at && { at: [texts.taskForm.firstRunPassed] }) }, form };
}

/** The form of a new task with these values. */
export async function proposeTask(
  context: UserPageContext,
  { name, prompt }: { name: string; prompt: string },
): Promise<Page> {
  const formData = await openForm(context, null);
  const values = { ...createFormValues(context.timeZone, context.now, formData.defaultModel ?? ''), name, prompt };
  return renderTaskForm(context, { values, formData, plan: await planRuns(context, values, null) });
}

/** Stops with 404 for an unknown one. */
async function showNamedTemplate(context: UserPageContext, id: string): Promise<Page> {
  const template = unwrap(await context.actions.listTemplates(context.session, {})).templates.find(
    (one) => one.id === id,
  );
  if (!template) throw new ActionFailed({ success: false, error: 'Template not found', code: 'NOT_FOUND' });
  return showTemplate(context, template);
}

/** The form of a new task, without what the service or the default model does not have. */
export async function showTemplate(context: UserPageContext, template: Template): Promise<Page> {
  const { missing } = unwrap(await context.actions.listTemplates(context.session, {}));
  const { blanks } = template;
  const task = omitMissing(template.task, missing);
  const formData = await openForm(context, null, { attachments: [], ...(task.aiModel && { aiModel: task.aiModel }) });
  const scheduledFor = new Date(context.now.getTime() + DAY_MS).toISOString();
  const values = {
    ...toProposalValues(context, { ...task, scheduledFor }, formData.defaultModel ?? ''),
    blanks: blanks.map((blank) => ({ ...blank, value: '' })),
  };
  const plan = await planRuns(context, values, null, readLimits(values, null, context.texts));
  const lacks = missing.filter((need) => template.needs.includes(need));
  return renderTaskForm(context, { values, formData, plan, lacks });
}

export async function showStoredTask(context: UserPageContext, id: number): Promise<Page> {
  const formData = await openForm(context, id);
  if (!formData.task) throw new Error('openTaskForm answers the task that it is asked for.');
  const stored = toFormValues(formData.task, context.now);
  const remark = await findRemark(context, id);
  const values = remark === null ? stored : { ...stored, prompt: `${stored.prompt.trimEnd()}\n\n${remark}` };
  const plan = await planRuns(context, values, formData.task, readLimits(values, formData.task, context.texts));
  return renderTaskForm(context, { values, formData, plan, hasRemark: remark !== null });
}

/** What was asked about an answer of the task and is to be remembered, if a link names it. */
async function findRemark({ actions, session, request }: UserPageContext, taskId: number): Promise<string | null> {
  const id = parseId(readQuery(request).remember ?? '');
  if (id === null) return null;
  const question = unwrap(await actions.getQuestion(session, { id }));
  return question.taskId === taskId ? question.message : null;
}
