import { ACTION_INPUTS, type ActionData } from '@carillon/contract/actions';
import { Type } from '@sinclair/typebox';
import type { Caller, Context } from '../context.ts';
import { invalidField } from '../errors.ts';
import { executeTask } from '../executions/execute-task.ts';
import { checkPattern } from '../schedule/pattern.ts';
import { nextOccurrence } from '../schedule/recurrence.ts';
import { deleteTask } from '../tasks/delete.ts';
import { duplicateTask } from '../tasks/duplicate.ts';
import { getTask, type TaskRow } from '../tasks/read.ts';
import { changeTask, createTask } from '../tasks/write.ts';
import type { ActionBuilder } from './create-action.ts';
import { readAs, readId, readOptional } from './input.ts';
import { naming, RUN_STATES, TASK_STATES, toText } from './words.ts';

/** What the verbs call by other names. */
const NAMES = { recurrencePattern: 'recurrence', scheduledFor: 'recurrence', aiModel: 'model', status: 'active' };

/** Specification "Server actions": those of tasks. */
export const taskActions = ({ user }: ActionBuilder) => ({
  createTask: user('createTask', [readAs(ACTION_INPUTS.createTask)], async ({ ctx, caller }, input) => {
    const { model: aiModel, recurrence, active = true, ...rest } = input;
    const at = ctx.now();
    const status = active ? 'active' : 'paused';
    const schedule = repeating(recurrence, caller.timezone ?? 'UTC', at);
    const id = await naming(NAMES, () => createTask(asOf(ctx, at), caller, { ...rest, ...schedule, aiModel, status }));
    return { id: String(id), name: rest.name, createdAt: at.toISOString() };
  }),

  updateTask: user(
    'updateTask',
    [readAs(ACTION_INPUTS.updateTask)],
    async ({ ctx, caller }, { id: text, ...input }) => {
      const id = readId(text);
      const { model: aiModel, recurrence, active, ...rest } = input;
      const at = ctx.now();
      const status = active === undefined ? undefined : active ? 'active' : 'paused';
      const schedule = recurrence === undefined ? {} : await rescheduled(ctx, caller, id, recurrence, at);
      const changes = { ...rest, ...schedule, aiModel, status } as const;
      return showTask(await naming(NAMES, () => changeTask(asOf(ctx, at), caller, id, changes)));
    },
  ),

  deleteTask: user('deleteTask', [readId], async ({ ctx, caller }, id) => {
    await deleteTask(ctx, caller, id);
    return null;
  }),

  toggleTaskActive: user(
    'toggleTaskActive',
    [readId, readAs(Type.Boolean(), 'active')],
    async ({ ctx, caller }, id, active) => {
      const status = active ? 'active' : 'paused';
      return showTask(await naming(NAMES, () => changeTask(ctx, caller, id, { status })));
    },
  ),

  executeTask: user('executeTask', [readId], async ({ ctx, caller }, id) => {
    const { executionId, startedAt } = await executeTask(ctx, caller, id);
    return { executionId: String(executionId), status: RUN_STATES.pending, startedAt: startedAt.toISOString() };
  }),

  duplicateTask: user(
    'duplicateTask',
    [readId, readOptional(ACTION_INPUTS.duplicateTask)],
    async ({ ctx, caller }, id, input) => showTask(await duplicateTask(ctx, caller, id, input)),
  ),
});

/** One instant for all of a call: a run that is a moment ahead must not have passed when the task is written. */
const asOf = (ctx: Context, at: Date): Context => ({ ...ctx, now: () => new Date(at) });

/** What a cron expression alone says of a schedule: its first run is the next time it fires. */
function repeating(pattern: string, timezone: string, at: Date) {
  const problem = checkPattern(pattern, timezone);
  if (problem) throw invalidField('recurrence', problem);
  // The verb puts the word nearest to the expression in its place.
  const recurrence = 'daily' as const;
  const next = nextOccurrence({ scheduledFor: at, recurrence, recurrencePattern: pattern, timezone }, at);
  if (next === null) throw invalidField('recurrence', 'This pattern never fires.');
  return { scheduledFor: next.toISOString(), recurrence, recurrencePattern: pattern, timezone };
}

/**
 * What another expression changes of a task's schedule; nothing where it is the one that it has. The first run goes
 * with it: one that is still ahead would run once more at the time before. So does the zone that it was computed in.
 */
async function rescheduled(ctx: Context, caller: Caller, id: number, pattern: string, at: Date) {
  const task = await getTask(ctx, caller, id);
  return pattern === recurrenceOf(task) ? {} : repeating(pattern, task.timezone, at);
}

const recurrenceOf = (task: TaskRow) => task.recurrencePattern ?? task.recurrence;

const showTask = (task: TaskRow): ActionData<'updateTask'> => ({
  id: String(task.id),
  name: task.name,
  description: task.description,
  prompt: task.prompt,
  model: task.aiModel,
  recurrence: recurrenceOf(task),
  active: task.status === 'active',
  status: TASK_STATES[task.status],
  webhookUrl: task.webhookUrl,
  notificationEmail: task.notificationEmail,
  nextExecutionAt: toText(task.nextExecutionAt),
  createdAt: task.createdAt.toISOString(),
  updatedAt: task.updatedAt.toISOString(),
});
