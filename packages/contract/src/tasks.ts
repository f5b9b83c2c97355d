import { type Static, Type } from '@sinclair/typebox';
import { errors, Pagination, refusals, success } from './envelopes.ts';
import { type Operation, SIGNED_IN } from './operation.ts';
import { Cursor, Id, IdParams, Instant, nullable, Offset, pageSize, ref, strict, TaskName } from './primitives.ts';
import {
  ChangeTaskInput,
  CreateTaskInput,
  Occurrence,
  PlannedOccurrence,
  PreviewTaskInput,
  Task,
  TaskStatus,
} from './task.ts';

/** Specification "Tasks, executions, agent mode"; decisions §5. */

export * from './task.ts';

const common = { tags: ['tasks'], security: SIGNED_IN };
const NO_PLACE = 'The places of the plan for active tasks are all taken';

export const createTask = {
  ...common,
  operationId: 'createTask',
  summary: 'Schedule a prompt',
  description:
    'The first run is at `scheduledFor`, which has to be in the future. The others follow at the same wall-clock time in `timezone`, also across clock changes, or by the `recurrencePattern`; `previewTask` shows them before. Sends `task.created`. Sent twice, it makes two tasks.',
  body: CreateTaskInput,
  response: {
    201: Type.Object({ success, taskId: Id }),
    ...errors(401, 403, 429),
    ...refusals({ 402: NO_PLACE }),
  },
} satisfies Operation;

export const ListTasksQuery = Type.Object({
  status: Type.Optional(TaskStatus),
  search: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the name' })),
  limit: pageSize(20),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListTasksQuery = Static<typeof ListTasksQuery>;

export const listTasks = {
  ...common,
  operationId: 'listTasks',
  summary: "The caller's tasks, newest first",
  description:
    '`search` finds part of the name, in any letter case. Pages by `offset`, or by `cursor`, which does not slow down and is the one that counts where both are given.',
  querystring: ListTasksQuery,
  response: {
    200: Type.Object({ success, tasks: Type.Array(ref(Task)), pagination: Pagination }),
    ...errors(401, 429),
  },
} satisfies Operation;

const OneTask = Type.Object({ success, task: ref(Task) });

export const getTask = {
  ...common,
  operationId: 'getTask',
  summary: 'One task',
  description: 'As it is now, with its next run and its last.',
  params: IdParams,
  response: { 200: OneTask, ...errors(401, 404, 429) },
} satisfies Operation;

export const changeTask = {
  ...common,
  operationId: 'changeTask',
  summary: 'Change, pause or resume a task',
  description:
    'Changes the fields that are given; null clears what may be null. Resuming or changing the schedule recomputes `nextExecutionAt`: what fell due while the task was paused is not made up for. A value that is there already is no change, so it can be sent twice. Sends `task.updated` where anything has changed.',
  params: IdParams,
  body: ChangeTaskInput,
  response: { 200: OneTask, ...errors(401, 403, 404, 429), ...refusals({ 402: NO_PLACE }) },
} satisfies Operation;

export const deleteTask = {
  ...common,
  operationId: 'deleteTask',
  summary: 'Delete a task and its executions',
  description:
    'Runs that wait are dropped, one that runs is aborted and its result is lost; its tokens count all the same. Sends `task.deleted`. Cannot be taken back.',
  params: IdParams,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errors(401, 403, 404, 429),
  },
} satisfies Operation;

export const executeTask = {
  ...common,
  operationId: 'executeTask',
  summary: 'Run a task now',
  description:
    'Queues a run at once, beside the schedule, which stays as it is. Of one user 5 run at a time; more wait as `pending`. `getExecution` tells how it stands. Sent twice, it runs twice.',
  params: IdParams,
  response: {
    201: Type.Object({ success, executionId: Id, status: Type.Literal('pending'), startedAt: Instant }),
    ...errors(401, 402, 403, 404, 429),
  },
} satisfies Operation;

export const DuplicateTaskInput = strict({
  name: Type.Optional({ ...TaskName, description: 'The name of the task with " (copy)" unless told' }),
});
export type DuplicateTaskInput = Static<typeof DuplicateTaskInput>;

export const duplicateTask = {
  ...common,
  operationId: 'duplicateTask',
  summary: 'Make a copy of a task',
  description:
    'All that its owner has set; attachments that are gone are left out, and nothing has run yet. The copy of an active task is active and goes on with the next future run; that of any other one, and of a `once` task whose time has passed, is paused. The body may be left out.',
  params: IdParams,
  body: nullable(DuplicateTaskInput),
  response: {
    201: OneTask,
    ...errors(401, 403, 404, 429),
    ...refusals({ 402: NO_PLACE }),
  },
} satisfies Operation;

export const ListOccurrencesQuery = Type.Object({ limit: pageSize(20), cursor: Type.Optional(Cursor) });
export type ListOccurrencesQuery = Static<typeof ListOccurrencesQuery>;

export const listOccurrences = {
  ...common,
  operationId: 'listOccurrences',
  summary: 'What became of each planned run, newest first',
  description: 'One row for each planned instant, also for those that did not run, with the reason. Pages by `cursor`.',
  params: IdParams,
  querystring: ListOccurrencesQuery,
  response: {
    200: Type.Object({
      success,
      occurrences: Type.Array(ref(Occurrence)),
      pagination: Type.Object({ limit: Type.Integer(), nextCursor: nullable(Type.String()) }),
    }),
    ...errors(401, 404, 429),
  },
} satisfies Operation;

export const previewTask = {
  ...common,
  operationId: 'previewTask',
  summary: 'The next runs of a schedule, before it is saved',
  description:
    'Stores nothing. Shows at most 50 runs from now on, with a `note` where a clock change or a short month bends one. A `scheduledFor` that has passed is taken where there are runs to come.',
  body: PreviewTaskInput,
  response: {
    200: Type.Object({ success, occurrences: Type.Array(PlannedOccurrence) }),
    ...errors(401, 403, 429),
  },
} satisfies Operation;
