import type { ActionError } from '@carillon/contract/actions/index';
import type { WebActionInput } from '@carillon/contract/actions/web/index';
import { isUuid } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';
import type { TaskSchedule } from '../../components/schedule/recurrence-text.ts';
import type { OptionalSettings } from '../../components/task-settings.ts';
import { ActionFailed, type Page, type Redirect, redirect, type UserPageContext, unwrap } from '../../page.ts';
import { createFormValues, type FormValues, toScheduleValues } from './form-values.ts';
import { readSettings } from './settings/read-settings.ts';
import { createSettingsValues, toSettingsValues } from './settings/settings-values.ts';

export type Proposal = WebActionData<'getProposal'>;
export type ProposedTask = Proposal['task'];

const NOT_FOUND = { success: false, error: 'Proposal not found. It may have expired.', code: 'NOT_FOUND' } as const;

/** Stops with 404 for a proposal that does not exist, has expired or is of another person. */
export async function getProposal(context: UserPageContext, id: string): Promise<Proposal> {
  const proposal = await findProposal(context, id);
  if (proposal === null) throw new ActionFailed(NOT_FOUND);
  return proposal;
}

/** The settings that have a default, as the task will have them. */
export const completeSettings = ({ context, ...task }: ProposedTask, texts: Texts): OptionalSettings => {
  const { settings } = readSettings({ ...createSettingsValues(), timezone: task.timezone }, null, texts);
  return { ...settings, ...(task as Partial<OptionalSettings>), context: { ...settings.context, ...context } };
};

export const scheduleOf = ({
  scheduledFor,
  recurrence,
  recurrencePattern = null,
  interval,
  timezone,
}: ProposedTask): TaskSchedule => ({
  scheduledFor,
  recurrence,
  recurrencePattern,
  interval,
  timezone,
});

/** The schedule of a proposal that can still be saved as it is; null if its first run has passed. */
export function findLiveSchedule({ task }: Proposal, now: Date): TaskSchedule | null {
  return new Date(task.scheduledFor) > now ? scheduleOf(task) : null;
}

/** Null for one that does not exist any more. */
export async function findProposal({ actions, session }: UserPageContext, id: string): Promise<Proposal | null> {
  if (!isUuid(id)) return null;
  const result = await actions.getProposal(session, { id });
  if (!result.success && result.code === 'NOT_FOUND') return null;
  return unwrap(result);
}

/** The fields of a proposed task. */
export function toProposalValues(
  { now, texts }: UserPageContext,
  task: ProposedTask,
  defaultModel: string,
): FormValues {
  const { timezone, name, prompt, description, aiModel, maxTokens, temperature, attachments } = task;
  return {
    ...createFormValues(timezone, now, aiModel ?? defaultModel),
    ...toScheduleValues(scheduleOf(task), now),
    ...toSettingsValues({ ...completeSettings(task, texts), timezone }),
    name,
    prompt,
    description: description ?? '',
    attachments: attachments ?? [],
    ...(maxTokens !== undefined && { maxTokens: String(maxTokens) }),
    ...(temperature !== undefined && { temperature: (temperature / 100).toFixed(2) }),
    webhookUrl: task.webhookUrl ?? '',
    notificationEmail: task.notificationEmail ?? '',
  };
}

/** Goes to the task that a proposal has become. */
export const goToConfirmed = (
  { texts: { taskForm } }: UserPageContext,
  { taskId }: Pick<Proposal, 'taskId'>,
): Redirect =>
  taskId === null ? redirect('/tasks', taskForm.savedAndDeleted) : redirect(`/tasks/${taskId}`, taskForm.alreadySaved);

type Changes = WebActionInput<'confirmProposal'>['changes'];

/** Saves the task of a proposal. `show`: what to answer if that is refused. */
export async function confirmProposal(
  context: UserPageContext,
  id: string,
  changes: Changes,
  show: (result: ActionError) => Promise<Page | Redirect> | Page | Redirect,
): Promise<Page | Redirect> {
  const { actions, session } = context;
  const result = await actions.confirmProposal(session, { id, ...(changes && { changes }) });
  if (result.success) return redirect(`/tasks/${result.data.taskId}`, context.texts.taskForm.saved);
  return result.code === 'CONFLICT' ? goToConfirmed(context, await getProposal(context, id)) : show(result);
}
