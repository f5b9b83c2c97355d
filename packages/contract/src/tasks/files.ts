import { type Static, Type } from '@sinclair/typebox';
import { success, ValidationErrorBody } from '../envelopes.ts';
import {
  describedErrors,
  errorResponses,
  IDEMPOTENCY_ERRORS,
  type Operation,
  PUBLIC,
  SIGNED_IN,
} from '../operation.ts';
import { Instant, ref, strictObject, stringEnum, withDefault } from '../primitives.ts';
import { ACTIVE_TASK_QUOTA, CreateTaskInput, ExternalId, TASK_STATUSES } from '../tasks.ts';

export const MAX_FILE_BYTES = 16 * 1024 * 1024;
export const MAX_FILE_TASKS = 10_000;

const Name = Type.String({ minLength: 1, maxLength: 255 });
const { attachments, channels, inputs, ...fields } = CreateTaskInput.properties;

/** A task of a file: the body of `createTask`, which names channels and uploads instead of giving their ids. */
export const FileTask = strictObject({
  ...fields,
  status: Type.Optional(
    stringEnum(TASK_STATUSES, {
      description:
        'Default: that of the task, `paused` for a new one. `completed` and `failed` are taken for new tasks only. A task without runs ahead stays as it is',
    }),
  ),
  attachments: Type.Optional(
    Type.Array(Name, { maxItems: attachments.maxItems as number, description: 'Names or ids of uploads' }),
  ),
  inputs: Type.Optional(
    Type.Array(
      strictObject({
        task: { ...ExternalId, description: 'The `externalId` of a task, of this file too' },
        name: inputs.items.properties.name,
      }),
      { maxItems: inputs.maxItems as number, description: inputs.description as string },
    ),
  ),
  channels: Type.Optional(
    Type.Array(Name, { maxItems: channels.maxItems as number, description: 'Names or ids of channels' }),
  ),
});
export type FileTask = Static<typeof FileTask>;

export const FILE_TYPES = { yaml: 'application/yaml', jsonl: 'application/jsonl' } as const;
export type FileType = keyof typeof FILE_TYPES;

const common = { tags: ['tasks'], security: SIGNED_IN };

/** A body of text in each type of file. */
const content = (descriptions: Record<FileType, string>) =>
  Type.Unsafe<string>({
    content: Object.fromEntries(
      Object.entries(FILE_TYPES).map(([type, name]) => [
        name,
        { schema: Type.String({ description: descriptions[type as FileType] }) },
      ]),
    ),
  });

export const exportTasks = {
  ...common,
  operationId: 'exportTasks',
  summary: 'Export the tasks as a file',
  description:
    'Returns all tasks of the caller, oldest first, as YAML, or with `Accept: application/jsonl` as a task a line. `importTasks` takes the file. Fields with their default value are left out. Channels and uploads are named.',
  response: {
    200: content({ yaml: 'A list of tasks', jsonl: 'A task a line' }),
    ...errorResponses(401, 403, 429),
  },
} satisfies Operation;

export const ImportTasksQuery = Type.Object({
  dryRun: withDefault(Type.Boolean({ description: 'Whether to report only what the import would do' }), false),
  prune: withDefault(
    Type.Boolean({ description: 'Whether to delete tasks that earlier imports created or changed and the file lacks' }),
    false,
  ),
});
export type ImportTasksQuery = Static<typeof ImportTasksQuery>;

export const FileError = Type.Object({
  line: Type.Integer({ description: 'From 1 on' }),
  field: Type.String({ description: 'The field of the task, nested ones with dots; `file` for what is no task' }),
  message: Type.String({ description: 'What is wrong' }),
});
export type FileError = Static<typeof FileError>;

export const ImportResult = Type.Object({
  success,
  created: Type.Integer({ description: 'The number of new tasks' }),
  updated: Type.Integer({ description: 'The number of changed tasks' }),
  unchanged: Type.Integer({ description: 'The number of tasks that are as the file says' }),
  deleted: Type.Integer({ description: 'The number of tasks that `prune` deletes' }),
  errors: Type.Array(FileError, { description: 'Empty without `dryRun`' }),
  preview: Type.Array(
    Type.Object({
      name: Type.String({ description: 'The name of the task' }),
      nextRuns: Type.Array(Instant, { description: 'The next three, those of a paused task once it is resumed' }),
    }),
    { description: 'The tasks that are created or changed, in the order of the file' },
  ),
});
export type ImportResult = Static<typeof ImportResult>;

export const InvalidFile = Type.Object(
  {
    success: Type.Literal(false),
    error: Type.Literal('Validation error'),
    errors: Type.Array(FileError, { description: 'At most 100' }),
  },
  { $id: 'InvalidFile', description: 'What is wrong with the file' },
);

export const importTasks = {
  ...common,
  operationId: 'importTasks',
  summary: 'Import tasks from a file',
  description:
    'Creates and changes tasks so that they are as the file says: all of them, or none. A task is that of its `externalId`; one without is new. A field that is left out gets its default, except for `status`, which stays as it is. A `scheduledFor` in the past makes up for no run. A file has at most 10,000 tasks and 16 MiB; in YAML, tags are refused and aliases bounded. The schema of its tasks is at `/schemas/task.json`.',
  querystring: ImportTasksQuery,
  consumes: Object.values(FILE_TYPES),
  body: content({ yaml: 'A list of tasks', jsonl: 'A task a line' }),
  response: {
    200: ImportResult,
    ...IDEMPOTENCY_ERRORS,
    ...errorResponses(401, 403, 429),
    ...describedErrors({ 402: ACTIVE_TASK_QUOTA }),
    400: Type.Union([ref(InvalidFile), ref(ValidationErrorBody)], {
      description: 'Something in the file is wrong, and nothing has changed',
    }),
  },
} satisfies Operation;

export const getTaskSchema = {
  operationId: 'getTaskSchema',
  summary: 'Get the JSON Schema of task files',
  description: 'Of a file in YAML, and of a line of JSONL.',
  tags: ['tasks'],
  security: PUBLIC,
  response: { 200: Type.Record(Type.String(), Type.Unknown()), ...errorResponses(429) },
} satisfies Operation;
