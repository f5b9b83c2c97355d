import { ACTION_INPUTS, type ActionData } from '@carillon/contract/actions/index';
import { RECURRENCES } from '@carillon/contract/tasks';
import { Type } from '@sinclair/typebox';
import type { Caller, Context } from '../../context.ts';
import { invalidField } from '../../errors.ts';
import { backfillTask, executeTask } from '../../product/executions/start.ts';
import { checkPattern } from '../../product/schedule/pattern.ts';
import { nextOccurrence } from '../../product/schedule/recurrence.ts';
import { deleteTask } from '../../product/tasks/delete.ts';
import { duplicateTask } from '../../product/tasks/duplicate.ts';
import { getTask, type TaskRow } from '../../product/tasks/read.ts';
import { skipNextRun } from '../../product/tasks/skip-next-run.ts';
import { changeTask, createTask } from '../../product/tasks/write.ts';
import type { ActionBuilder } from './create-action.ts';
import { readId, readInput, readOptionalInput } from './input.ts';
import { type Call, checkUrl, EXECUTION_STATES, renameErrorFields, toIsoText } from './mappings.ts';

/** The names of the contract's fields in these actions. */
const FIELD_NAMES = { recurrencePattern: 'recurrence', scheduledFor: 'recurrence', aiModel: 'model', status: 'active' };

export const taskActions = ({ user }: ActionBuilder) => ({
  createTask: user(
    'createTask',
    [readInput(ACTION_INPUTS.createTask, 'input', { recurrence: checkRecurrence, webhookUrl: checkUrl })],
    async ({ ctx, caller }, input) => {
      const { model: aiModel, recurrence, active = true, ...rest } = input;
      const at = ctx.now();
      const schedule = toSchedule(recurrence, caller.timezone ?? 'UTC', at);
      const task = { ...rest, ...schedule, aiModel, status: toTaskStatus(active) };
      const id = await renameErrorFields(FIELD_NAMES, () => createTask(withFixedClock(ctx, at), caller, task));
      return { id: String(id), name: rest.name, createdAt: at.toISOString() };
    },
  ),

  updateTask: user(
    'updateTask',
    [readInput(ACTION_INPUTS.updateTask, 'input', { recurrence: checkChangedRecurrence, webhookUrl: checkUrl })],
    async ({ ctx, caller }, { id: text, ...input }) => {
      const id = readId(text);
      const { model: aiModel, recurrence, active, ...rest } = input;
      const at = ctx.now();
      const status = active === undefined ? undefined : toTaskStatus(active);
      const schedule = recurrence === undefined ? {} : await changedSchedule(ctx, caller, id, recurrence, at);
      const changes = { ...rest, ...schedule, aiModel, status };
      const changing = () => changeTask(withFixedClock(ctx, at), caller, id, changes);
      return toTaskData(await renameErrorFields(FIELD_NAMES, changing));
    },
  ),

  deleteTask: user('deleteTask', [readId], async ({ ctx, caller }, id) => {
    await deleteTask(ctx, caller, id);
    return null;
  }),

  toggleTaskActive: user(
    'toggleTaskActive',
    [readId, readInput(Type.Boolean(), 'active')],
    async ({ ctx, caller }, id, active) => {
      const changing = () => changeTask(ctx, caller, id, { status: toTaskStatus(active) });
      return toTaskData(await renameErrorFields(FIELD_NAMES, changing));
    },
  ),

  skipNextRun: user('skipNextRun', [readId], async ({ ctx, caller }, id) => {
    const { occurrence, task } = await skipNextRun(ctx, caller, id);
    return { skipped: occurrence.plannedFor.toISOString(), task: toTaskData(task) };
  }),

  backfillTask: user(
    'backfillTask',
    [readId, readInput(ACTION_INPUTS.backfillTask, 'input')],
    async ({ ctx, caller }, id, input) => ({ queued: await backfillTask(ctx, caller, id, input) }),
  ),

  executeTask: user('executeTask', [readId], async ({ ctx, caller }, id) => {
    const { executionId, startedAt } = await executeTask(ctx, caller, id);
    return { executionId: String(executionId), status: EXECUTION_STATES.pending, startedAt: startedAt.toISOString() };
  }),

  duplicateTask: user(
    'duplicateTask',
    [readId, readOptionalInput(ACTION_INPUTS.duplicateTask)],
    async ({ ctx, caller }, id, input) => toTaskData(await duplicateTask(ctx, caller, id, input)),
  ),
});

const checkRecurrence = (pattern: string, { caller }: Call) => checkPattern(pattern, caller.timezone ?? 'UTC');

/** A task without a pattern returns its word, which can be sent back. */
const checkChangedRecurrence = (recurrence: string, call: Call) =>
  (RECURRENCES as readonly string[]).includes(recurrence) ? null : checkRecurrence(recurrence, call);

const toTaskStatus = (active: boolean) => (active ? ('active' as const) : ('paused' as const));

/** The same instant for the whole call: the first run was computed from it and must not be in the past when it is checked. */
const withFixedClock = (ctx: Context, at: Date): Context => ({ ...ctx, now: () => new Date(at) });

/** The schedule of a cron expression: the first run is the next time that it fires. */
function toSchedule(pattern: string, timezone: string, at: Date) {
  const problem = checkPattern(pattern, timezone);
  if (problem) throw invalidField('recurrence', problem);
  // The service replaces this word by the nearest to the pattern.
  const recurrence = 'daily' as const;
  const next = nextOccurrence({ scheduledFor: at, recurrence, recurrencePattern: pattern, timezone }, at);
  if (next === null) throw invalidField('recurrence', 'This pattern never fires.');
  return { scheduledFor: next.toISOString(), recurrence, recurrencePattern: pattern, timezone };
}

/** Empty if the task has this pattern already. Otherwise the first run changes too: the old one would still take place. */
async function changedSchedule(ctx: Context, caller: Caller, id: number, pattern: string, at: Date) {
  const task = await getTask(ctx, caller, id);
  return pattern === getRecurrence(task) ? {} : toSchedule(pattern, task.timezone, at);
}

const getRecurrence = (task: TaskRow) => task.recurrencePattern ?? task.recurrence;

const toTaskData = (task: TaskRow): ActionData<'updateTask'> => ({
  id: String(task.id),
  name: task.name,
  description: task.description,
  prompt: task.prompt,
  model: task.aiModel,
  recurrence: getRecurrence(task),
  active: task.status === 'active',
  status: task.status,
  webhookUrl: task.webhookUrl,
  notificationEmail: task.notificationEmail,
  nextExecutionAt: toIsoText(task.nextExecutionAt),
  createdAt: task.createdAt.toISOString(),
  updatedAt: task.updatedAt.toISOString(),
});
