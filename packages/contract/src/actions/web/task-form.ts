import { type Static, Type } from '@sinclair/typebox';
import { ChannelChoice } from '../../channels/choices.ts';
import { Citation, OutputChange } from '../../executions.ts';
import { PreviewTaskInput, previewTask } from '../../occurrences.ts';
import { Id, Instant, nullable, strictObject, stringEnum, Uuid } from '../../primitives.ts';
import { PreviewPromptInput, previewPrompt } from '../../tasks/preview-prompt.ts';
import { Watch, WEB_TOOLS } from '../../tasks/run-settings.ts';
import { ChangeTaskInput, CreateTaskInput, DuplicateTaskInput, Task } from '../../tasks.ts';
import { UploadedFile } from '../../uploads.ts';
import { bodyOf, userAction } from './define.ts';

/** A file that is read while it arrives. It does not pass through JSON, as other inputs do. */
export interface FileToUpload {
  name: string;
  type: string;
  bytes: AsyncIterable<Buffer>;
}

/** The tools that the provider of a model has, and why it has none: they are switched off, or the offline model answers. */
const OfferedTools = Type.Object({
  tools: Type.Array(stringEnum(WEB_TOOLS)),
  absent: nullable(stringEnum(['off', 'offline', 'provider'])),
});

const AttachableFile = Type.Object({
  id: Type.String(),
  name: Type.String(),
  size: Type.Integer(),
  uploadedAt: Instant,
});

/** The models of the provider: `unknown` if it has no list or did not answer. */
const Models = Type.Union([
  Type.Object({ kind: Type.Literal('listed'), names: Type.Array(Type.String()) }),
  Type.Object({ kind: Type.Literal('unknown') }),
  Type.Object({ kind: Type.Literal('offline') }),
]);

const SCHEDULE = ['scheduledFor', 'recurrence', 'recurrencePattern', 'timezone'] as const;

/** A new task without its schedule: what the form can check while the schedule is not clear. */
export const TaskSettingsInput = Type.Omit(CreateTaskInput, [...SCHEDULE, 'status']);
export type TaskSettingsInput = Static<typeof TaskSettingsInput>;

/** A task that is not stored, or not as the form has it. */
const TypedTask = {
  ...PreviewPromptInput.properties,
  name: Type.Optional(Type.String({ maxLength: 1000 })),
  outputSchema: CreateTaskInput.properties.outputSchema,
  tools: CreateTaskInput.properties.tools,
};

const { aiModel, maxTokens, temperature, attachments, maxToolUses } = CreateTaskInput.properties;

export const taskFormActions = {
  /**
   * `attachments` are ids of files to describe beside those of the task and the newest ones. `aiModel` is the model of the
   * web tools; by default that of the task.
   */
  openTaskForm: userAction(
    strictObject({
      id: Type.Optional(Id),
      attachments: Type.Array(Type.String(), { maxItems: 100 }),
      aiModel: Type.Optional(Type.String()),
    }),
    Type.Object({
      task: nullable(Type.Object({ ...Task.properties, revision: Type.Integer(), plannedRuns: Type.Integer() })),
      /** Of new tasks; null beside a task. */
      defaultModel: nullable(Type.String()),
      files: Type.Array(AttachableFile),
      /** All of the account. */
      channels: Type.Array(ChannelChoice),
      models: Models,
      webTools: OfferedTools,
    }),
  ),
  findWebTools: userAction(strictObject({ aiModel: Type.String() }), OfferedTools),
  /** `plannedRuns`: those that count against `maxRuns` already. */
  previewRuns: userAction(
    strictObject({ ...PreviewTaskInput.properties, plannedRuns: Type.Optional(Type.Integer({ minimum: 0 })) }),
    bodyOf(previewTask),
  ),
  /** The system message and the prompt that a run would send. */
  previewPrompt: userAction(strictObject(TypedTask), bodyOf(previewPrompt)),
  createTask: userAction(CreateTaskInput, Type.Object({ taskId: Id })),
  /** Also queues a run, unless a quota forbids it. */
  createTaskAndRun: userAction(CreateTaskInput, Type.Object({ taskId: Id, executionId: nullable(Id) })),
  /** CONFLICT unless the task still has this revision. */
  saveTask: userAction(
    strictObject({ ...ChangeTaskInput.properties, id: Id, revision: Type.Integer() }),
    Type.Object({ name: Type.String() }),
  ),
  duplicateTask: userAction(
    strictObject({ ...DuplicateTaskInput.properties, id: Id }),
    Type.Object({ taskId: Id, name: Type.String() }),
  ),
  uploadFile: userAction(Type.Unsafe<FileToUpload>({}), Type.Object({ id: Uuid, ...UploadedFile.properties })),
  tryPrompt: userAction(
    strictObject({
      ...TypedTask,
      aiModel: Type.Required(Type.Object({ aiModel })).properties.aiModel,
      maxTokens,
      temperature,
      attachments,
      maxToolUses,
    }),
    Type.Object({
      answer: Type.String(),
      model: Type.String(),
      inputTokens: Type.Integer(),
      outputTokens: Type.Integer(),
      costUsd: Type.Number(),
      estimated: Type.Boolean({ description: 'Whether the provider has not said the tokens' }),
      toolUses: Type.Integer(),
      toolCostUsd: Type.Number({ description: 'The part of `costUsd` that is for tools, if the provider says it' }),
      citations: Type.Array(Citation),
      durationMs: Type.Integer(),
      output: Type.Unknown({ description: 'The parsed answer; null without a schema, or if it does not match' }),
      problems: Type.Array(Type.String(), { description: 'Why the answer does not match the schema' }),
    }),
  ),
  /** Compares an answer with the last success of the task: `output` if it has a schema, else `text`. */
  tryWatch: userAction(
    strictObject({
      taskId: Type.Optional(Id),
      output: Type.Optional(Type.Unknown()),
      text: Type.Optional(Type.String()),
      watch: Watch,
    }),
    Type.Object({
      /** At most 100. A watched path that leads nowhere has no value. */
      values: Type.Array(Type.Object({ path: Type.String(), value: Type.Optional(Type.Unknown()) })),
      /** Null without a last success. */
      changes: nullable(Type.Array(OutputChange)),
    }),
  ),
};
