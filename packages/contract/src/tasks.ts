import { type Static, type TObject, type TSchema, Type } from '@sinclair/typebox';
import { Pagination, success } from './envelopes.ts';
import { describedErrors, errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from './operation.ts';
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
} from './primitives.ts';

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
  description: "Five-field cron expression in the task's time zone; if present, it decides the next runs",
});

export const RunContext = Type.Object(
  {
    clock: Type.Boolean({
      description: 'Whether a system message says for when the run is planned, in the time zone of the task',
    }),
    previousResult: Type.Boolean({ description: 'Whether the system message has the result of the last success' }),
  },
  { description: 'What the model is given beside the prompt' },
);
const RunContextInput = strictObject(
  {
    clock: Type.Optional({ ...RunContext.properties.clock, description: 'Default: true' }),
    previousResult: Type.Optional({ ...RunContext.properties.previousResult, description: 'Default: false' }),
  },
  { description: 'What the model is given beside the prompt' },
);

export const NOTIFY_WHEN = ['always', 'change', 'failure'] as const;
const Notify = stringEnum(NOTIFY_WHEN, {
  description:
    "When the task's own webhook and mail get a result: `always`, only if it changed (`change`), or only failures (`failure`). Failures are always delivered",
});
export const MISSED_POLICIES = ['latest', 'none', 'all'] as const;
const Missed = stringEnum(MISSED_POLICIES, {
  description:
    'What makes up for runs that were missed while the service was down: one run (`latest`), nothing (`none`), or the latest 10 (`all`)',
});
export const OVERLAP_POLICIES = ['skip', 'queue', 'cancel'] as const;
const Overlap = stringEnum(OVERLAP_POLICIES, {
  description:
    'What happens to a planned run while a run of the task is pending or running: it is skipped, one is queued, or it replaces the others, which are cancelled',
});

export const OutputSchema = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  additionalProperties: true,
  description:
    'A JSON Schema (2020-12) of an object that every result must match: at most 16 KiB and 10 levels deep, with local references only',
});

const WatchPath = Type.String({ minLength: 1, maxLength: 200 });
const watchDescription =
  'Paths into the output to compare with the last success, such as `price` or `releases[].date`; without any, the whole output';

const alertRules = {
  overdueMinutes: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_080, description: 'Minutes after which a planned run is overdue' }),
  ),
  failuresInRow: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, description: 'Failed runs in a row after which the task is failing' }),
  ),
  costAboveUsd: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000, description: 'Cost of a run in USD' })),
  durationAboveMs: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 86_400_000, description: 'Duration of a run in milliseconds' }),
  ),
};
const alertsDescription =
  'When to send an alert; a rule that is left out is off. Null: 15 minutes overdue and 3 failures in a row, if the task has a webhook or a mail address';
export const AlertRules = Type.Object(alertRules, { description: alertsDescription });

/** What the owner of a task sets. `apps/api/src/tasks/settings.ts` stores, answers and copies every field of this list. */
const taskSettings = {
  name: TaskName,
  description: Type.Optional(nullable(Description)),
  prompt: Prompt,
  scheduledFor: InstantInput,
  recurrence: Recurrence,
  recurrencePattern: Type.Optional(nullable(RecurrencePattern)),
  timezone: TimeZone,
  aiModel: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '^\\S+$' })),
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
        'Receives `execution.completed` and `execution.failed` of this task through a webhook of its own; null for none',
    }),
  ),
  notificationEmail: Type.Optional(
    nullable({ ...Email, description: 'Receives a mail when a run ends and no retry follows; null for none' }),
  ),
  context: Type.Optional(RunContextInput),
  outputSchema: Type.Optional(nullable(OutputSchema)),
  notify: Type.Optional({ ...Notify, description: `${Notify.description}. Default: \`always\`` }),
  watch: Type.Optional(Type.Array(WatchPath, { maxItems: 20, description: watchDescription })),
  missed: Type.Optional({ ...Missed, description: `${Missed.description}. Default: \`latest\`` }),
  overlap: Type.Optional({ ...Overlap, description: `${Overlap.description}. Default: \`skip\`` }),
  endsAt: Type.Optional(
    nullable({ ...InstantInput, description: 'The task is completed after its last run before this; null for never' }),
  ),
  maxRuns: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'The task is completed after so many planned runs; null for no limit',
      }),
    ),
  ),
  pausedUntil: Type.Optional(
    nullable({ ...InstantInput, description: 'Nothing is planned before this; null for no pause' }),
  ),
  timeoutMs: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 1000,
        maximum: 3_600_000,
        description: 'How long a run may wait for the answer, at most `AI_TIMEOUT_MS`; null for that',
      }),
    ),
  ),
  monthlyBudgetUsd: Type.Optional(
    nullable(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description: 'What the runs of a UTC month may cost in USD; null for no limit',
      }),
    ),
  ),
  maxRetries: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 3, description: 'How often a failed run is retried. Default: 3' }),
  ),
  alerts: Type.Optional(nullable(strictObject(alertRules, { description: alertsDescription }))),
};
export type TaskSettings = Required<Static<TObject<typeof taskSettings>>>;

export const Task = Type.Object(
  {
    id: Id,
    userId: Id,
    name: Type.String(),
    description: nullable(Type.String()),
    prompt: Type.String(),
    scheduledFor: Instant,
    nextExecutionAt: nullable(Instant),
    recurrence: Recurrence,
    recurrencePattern: nullable(Type.String()),
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
    context: RunContext,
    outputSchema: nullable(OutputSchema),
    notify: Notify,
    watch: Type.Array(Type.String(), { description: watchDescription }),
    missed: Missed,
    overlap: Overlap,
    endsAt: nullable(Instant),
    maxRuns: nullable(Type.Integer()),
    pausedUntil: nullable(Instant),
    timeoutMs: nullable(Type.Integer()),
    monthlyBudgetUsd: nullable(Type.Number()),
    maxRetries: Type.Integer(),
    alerts: nullable(AlertRules),
    createdAt: Instant,
    updatedAt: Instant,
  } satisfies Record<keyof TaskSettings, TSchema> & Record<string, TSchema>,
  { $id: 'Task' },
);
export type Task = Static<typeof Task>;

const SettableStatus = stringEnum(['active', 'paused']);

const common = { tags: ['tasks'], security: SIGNED_IN };
const ACTIVE_TASK_QUOTA = 'The plan allows no more active tasks';

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
    ...describedErrors({ 402: ACTIVE_TASK_QUOTA }),
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
    ...describedErrors({ 402: ACTIVE_TASK_QUOTA }),
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
  name: Type.Optional({ ...TaskName, description: 'Default: the name of the task with " (copy)"' }),
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
