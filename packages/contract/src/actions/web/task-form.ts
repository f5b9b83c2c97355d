import { type Static, Type } from '@sinclair/typebox';
import { PreviewTaskInput } from '../../occurrences.ts';
import { Id, strictObject, Uuid } from '../../primitives.ts';
import { PreviewPromptInput } from '../../tasks/preview-prompt.ts';
import { Watch } from '../../tasks/run-settings.ts';
import { PreviewSourcesInput } from '../../tasks/sources.ts';
import { ChangeTaskInput, CreateTaskInput, DuplicateTaskInput } from '../../tasks.ts';
import { userAction } from './define.ts';

/** A file that is read while it arrives. It does not pass through JSON, as other inputs do. */
export interface FileToUpload {
  name: string;
  type: string;
  bytes: AsyncIterable<Buffer>;
}

const SCHEDULE = ['scheduledFor', 'recurrence', 'recurrencePattern', 'interval', 'timezone'] as const;

/** A new task without its schedule: what the form can check while the schedule is not clear. */
export const TaskSettingsInput = Type.Omit(CreateTaskInput, [...SCHEDULE, 'status']);
export type TaskSettingsInput = Static<typeof TaskSettingsInput>;

/** A task that is not stored, or not as the form has it. */
const TypedTask = {
  ...PreviewPromptInput.properties,
  name: Type.Optional(Type.String({ maxLength: 1000 })),
  outputSchema: CreateTaskInput.properties.outputSchema,
  tools: CreateTaskInput.properties.tools,
  sources: CreateTaskInput.properties.sources,
  inputs: CreateTaskInput.properties.inputs,
  /** A run of the task, whose time, data and earlier results are used. */
  asOf: Type.Optional(Id),
};

/** Names one showing of a form: sent twice, it does its work once. */
const attempt = Type.Optional(Uuid);
const NewTask = strictObject({ ...CreateTaskInput.properties, attempt });

const { aiModel, maxTokens, temperature, attachments, maxToolUses } = CreateTaskInput.properties;

export const taskFormActions = {
  /**
   * `attachments` are ids of files to describe, in addition to those of the task and the newest ones. `aiModel` is the model of the
   * web tools; by default the model of the task.
   */
  openTaskForm: userAction(
    strictObject({
      id: Type.Optional(Id),
      attachments: Type.Array(Type.String(), { maxItems: 100 }),
      aiModel: Type.Optional(Type.String()),
    }),
  ),
  /** With what the default model and the service do not have of the needs of templates. */
  listTemplates: userAction(strictObject({})),
  getTaskTemplate: userAction(strictObject({ id: Id })),
  findWebTools: userAction(strictObject({ aiModel: Type.String() })),
  /** `plannedRuns`: those that count against `maxRuns` already. */
  previewRuns: userAction(
    strictObject({ ...PreviewTaskInput.properties, plannedRuns: Type.Optional(Type.Integer({ minimum: 0 })) }),
  ),
  /** What a run costs, and the planned runs of 30 days. `id`: a task whose runs may say it. */
  estimateCost: userAction(
    strictObject({
      ...PreviewTaskInput.properties,
      plannedRuns: Type.Optional(Type.Integer({ minimum: 0 })),
      id: Type.Optional(Id),
      prompt: Type.String(),
      aiModel: Type.Required(Type.Object({ aiModel })).properties.aiModel,
      fallbackModels: CreateTaskInput.properties.fallbackModels,
      maxTokens: Type.Integer({ minimum: 1 }),
      outputSchema: CreateTaskInput.properties.outputSchema,
      tools: CreateTaskInput.properties.tools,
      maxToolUses,
      attachments,
      notify: CreateTaskInput.properties.notify,
    }),
  ),
  /** The system message and the prompt that a run would send. */
  previewPrompt: userAction(strictObject(TypedTask)),
  previewSources: userAction(PreviewSourcesInput),
  createTask: userAction(NewTask),
  /** Also queues a run, unless a quota forbids it. */
  createTaskAndRun: userAction(NewTask),
  /** CONFLICT unless the task still has this revision. */
  saveTask: userAction(strictObject({ ...ChangeTaskInput.properties, id: Id, revision: Type.Integer() })),
  duplicateTask: userAction(strictObject({ ...DuplicateTaskInput.properties, id: Id })),
  uploadFile: userAction(Type.Unsafe<FileToUpload>({})),
  tryPrompt: userAction(
    strictObject({
      ...TypedTask,
      /** The trial on the page: another answer is asked for. Without it, the same input has the same answer for ten minutes. */
      after: Type.Optional(Uuid),
      aiModel: Type.Required(Type.Object({ aiModel })).properties.aiModel,
      maxTokens,
      temperature,
      attachments,
      maxToolUses,
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
  ),
};
