import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox';
import { Pagination, success } from './envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  orInProgress,
  SIGNED_IN,
} from './operation.ts';
import { IfMatch, IfNoneMatch, NOT_MODIFIED } from './preconditions.ts';
import {
  Cursor,
  Email,
  HttpUrl,
  Id,
  IdParams,
  Instant,
  InstantInput,
  nullable,
  Offset,
  pageLimit,
  ref,
  strictObject,
  stringEnum,
  TaskName,
  TimeZone,
  Uuid,
} from './primitives.ts';
import { ModelName, runSettings, storedRunSettings } from './tasks/run-settings.ts';

export const RECURRENCES = ['once', 'daily', 'weekly', 'monthly'] as const;
export const Recurrence = stringEnum(RECURRENCES);
export type Recurrence = Static<typeof Recurrence>;

export const TASK_STATUSES = ['active', 'paused', 'completed', 'failed'] as const;
export const TaskStatus = stringEnum(TASK_STATUSES);
export type TaskStatus = Static<typeof TaskStatus>;

export const Prompt = Type.String({ minLength: 10, maxLength: 200_000, pattern: '\\S' });
const Description = Type.String({ maxLength: 500 });
export const RecurrencePattern = Type.String({
  minLength: 1,
  maxLength: 256,
  description:
    "Five-field cron expression in the task's time zone; if present, it decides the next runs. A day matches the day of month or the weekday, or both where one of the two fields begins with `*`. Names, `L`, `W` and `#` are supported",
});

const externalIdDescription = 'The name of the task in files, unique for its owner';
export const ExternalId = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: '\\S',
  description: `${externalIdDescription}. Default: \`task-<id>\``,
});

const MAX_INTERVAL = 99;
const intervalDescription =
  'The number of days, weeks or months of `recurrence` between two runs, from the first run on; 1 with a `recurrencePattern` and with `once`';
export const Interval = Type.Integer({
  minimum: 1,
  maximum: MAX_INTERVAL,
  description: `${intervalDescription}. Default: 1`,
});

/** What the owner of a task sets. `apps/api/src/product/tasks/settings.ts` stores, answers and copies every field of this list. */
const taskSettings = {
  externalId: Type.Optional(ExternalId),
  name: TaskName,
  description: Type.Optional(nullable(Description)),
  prompt: Prompt,
  scheduledFor: InstantInput,
  recurrence: Recurrence,
  recurrencePattern: Type.Optional(nullable(RecurrencePattern)),
  interval: Type.Optional(Interval),
  timezone: TimeZone,
  aiModel: Type.Optional({
    ...ModelName,
    description: 'A model of the default provider, or `<provider>/<model>` of another one',
  }),
  maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 200_000, description: 'Default: 1024' })),
  temperature: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 200,
      description: 'In hundredths. Default: 70, which stands for 0.70',
      'x-type-hint': '70 stands for 0.70',
    }),
  ),
  attachments: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 10,
      description: "URLs or ids of the caller's uploads, at most 20 MiB together",
    }),
  ),
  webhookUrl: Type.Optional(
    nullable({
      ...HttpUrl,
      description:
        'Receives `execution.completed` and `execution.failed` of this task through its webhook; null for none',
    }),
  ),
  notificationEmail: Type.Optional(
    nullable({ ...Email, description: 'Receives a mail when a run ends and no retry follows; null for none' }),
  ),
  channels: Type.Optional(
    Type.Array(Uuid, {
      maxItems: 10,
      description:
        'Ids of channels of the caller, which get the results and the alerts of this task. Duplicates are ignored',
    }),
  ),
  ...runSettings,
};
export type TaskSettings = Required<Static<TObject<typeof taskSettings>>>;

export const Task = Type.Object(
  {
    id: Id,
    userId: Id,
    externalId: Type.String({ description: externalIdDescription }),
    name: Type.String(),
    description: nullable(Type.String()),
    prompt: Type.String(),
    scheduledFor: Instant,
    nextExecutionAt: nullable(Instant),
    recurrence: Recurrence,
    recurrencePattern: nullable(Type.String()),
    interval: Type.Integer({ description: intervalDescription }),
    timezone: Type.String(),
    aiModel: Type.String(),
    maxTokens: Type.Integer(),
    temperature: Type.Integer({ description: 'Hundredths: 70 stands for 0.70' }),
    status: TaskStatus,
    executionCount: Type.Integer(),
    lastExecutionAt: nullable(Instant),
    attachments: Type.Array(Type.String(), { description: 'Ids of the attached uploads' }),
    webhookUrl: nullable(Type.String()),
    notificationEmail: nullable(Type.String()),
    channels: Type.Array(Type.String(), { description: 'Ids of channels' }),
    ...storedRunSettings,
    createdAt: Instant,
    updatedAt: Instant,
  } satisfies Record<keyof TaskSettings, TSchema> & Record<string, TSchema>,
  { $id: 'Task' },
);
export type Task = Static<typeof Task>;

const SettableStatus = stringEnum(['active', 'paused']);

const common = { tags: ['tasks'], security: SIGNED_IN };
const TAKEN = 'Another task of the caller has this `externalId`';
export const ACTIVE_TASK_QUOTA = 'The plan allows no more active tasks';

export const CreateTaskInput = strictObject({
  ...taskSettings,
  status: Type.Optional({ ...SettableStatus, description: 'Default: `active`' }),
});
export type CreateTaskInput = Static<typeof CreateTaskInput>;

export const createTask = {
  ...common,
  operationId: 'createTask',
  summary: 'Create a task',
  description:
    'Schedules a prompt. The first run is at `scheduledFor`, which has to be in the future. The following runs keep the wall-clock time in `timezone`, also across clock changes, or follow the `recurrencePattern`; `previewTask` shows them in advance. Sends `task.created`. Sent twice without an `Idempotency-Key`, it creates two tasks.',
  body: CreateTaskInput,
  response: {
    201: Type.Object({ success, taskId: Id }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 402: ACTIVE_TASK_QUOTA, 409: orInProgress(TAKEN) }),
  },
} satisfies Operation;

export const ListTasksQuery = Type.Object({
  status: Type.Optional(TaskStatus),
  search: Type.Optional(Type.String({ maxLength: 100, description: 'Part of the name' })),
  limit: pageLimit(20),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListTasksQuery = Static<typeof ListTasksQuery>;

export const listTasks = {
  ...common,
  operationId: 'listTasks',
  summary: 'List tasks',
  description:
    "Returns the caller's tasks, newest first. `search` matches a part of the name in any letter case. Pages by `offset`, or by `cursor`, which stays fast on late pages and takes precedence if both are given.",
  querystring: ListTasksQuery,
  response: {
    200: Type.Object({ success, tasks: Type.Array(ref(Task)), pagination: Pagination }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

const TaskResponse = Type.Object({ success, task: ref(Task) });

export const getTask = {
  ...common,
  operationId: 'getTask',
  summary: 'Get a task',
  description: 'Returns the task with its next and its last run.',
  params: IdParams,
  headers: IfNoneMatch,
  response: { 200: TaskResponse, ...NOT_MODIFIED, ...errorResponses(401, 404, 429) },
} satisfies Operation;

export const ChangeTaskInput = strictObject({
  ...Type.Partial(Type.Object(taskSettings)).properties,
  status: Type.Optional(SettableStatus),
});
export type ChangeTaskInput = Static<typeof ChangeTaskInput>;

export const changeTask = {
  ...common,
  operationId: 'changeTask',
  summary: 'Change, pause or resume a task',
  description:
    'Changes the fields that are given; null clears a nullable field. Resuming the task or changing the schedule recomputes `nextExecutionAt`; runs that were due during the pause are not made up for. Idempotent: a field that already has the given value is not a change. Sends `task.updated` if anything changed.',
  params: IdParams,
  headers: IfMatch,
  body: ChangeTaskInput,
  response: {
    200: TaskResponse,
    ...errorResponses(401, 403, 404, 412, 429),
    ...describedErrors({ 402: ACTIVE_TASK_QUOTA, 409: TAKEN }),
  },
} satisfies Operation;

export const deleteTask = {
  ...common,
  operationId: 'deleteTask',
  summary: 'Delete a task and its executions',
  description:
    'Drops pending runs and aborts a running one: its result is lost, its tokens still count. Sends `task.deleted`. Cannot be undone.',
  params: IdParams,
  headers: IfMatch,
  response: {
    200: Type.Object({ success, message: Type.String() }),
    ...errorResponses(401, 403, 404, 412, 429),
  },
} satisfies Operation;

export const executeTask = {
  ...common,
  operationId: 'executeTask',
  summary: 'Run a task now',
  description:
    'Queues a run immediately and leaves the schedule as it is. At most 5 runs of a user are running at a time; others wait as `pending`. Poll `getExecution` for the result. Sent twice without an `Idempotency-Key`, the task runs twice.',
  params: IdParams,
  response: {
    201: Type.Object({ success, executionId: Id, status: Type.Literal('pending'), startedAt: Instant }),
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 402, 403, 404, 429),
  },
} satisfies Operation;

export const DuplicateTaskInput = strictObject({
  name: Type.Optional({
    ...TaskName,
    description: `Default: the name of the task with " (copy)". Spaces at its ends are removed`,
  }),
});
export type DuplicateTaskInput = Static<typeof DuplicateTaskInput>;

export const duplicateTask = {
  ...common,
  operationId: 'duplicateTask',
  summary: 'Duplicate a task',
  description:
    'Copies everything that the owner has set, except attachments that were deleted, and no executions. The copy of an active task is active and continues with the next future run; the copy of any other task, and of a `once` task whose time has passed, is paused. The body is optional.',
  params: IdParams,
  body: nullable(DuplicateTaskInput),
  response: {
    201: TaskResponse,
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 404, 429),
    ...describedErrors({ 402: ACTIVE_TASK_QUOTA }),
  },
} satisfies Operation;
