import { type Static, Type } from '@sinclair/typebox';
import { PreviewTaskInput } from '../../occurrences.ts';
import { Id, strictObject } from '../../primitives.ts';
import { PreviewPromptInput } from '../../tasks/preview-prompt.ts';
import { Watch } from '../../tasks/run-settings.ts';
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
};

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
  findWebTools: userAction(strictObject({ aiModel: Type.String() })),
  /** `plannedRuns`: those that count against `maxRuns` already. */
  previewRuns: userAction(
    strictObject({ ...PreviewTaskInput.properties, plannedRuns: Type.Optional(Type.Integer({ minimum: 0 })) }),
  ),
  /** The system message and the prompt that a run would send. */
  previewPrompt: userAction(strictObject(TypedTask)),
  createTask: userAction(CreateTaskInput),
  /** Also queues a run, unless a quota forbids it. */
  createTaskAndRun: userAction(CreateTaskInput),
  /** CONFLICT unless the task still has this revision. */
  saveTask: userAction(strictObject({ ...ChangeTaskInput.properties, id: Id, revision: Type.Integer() })),
  duplicateTask: userAction(strictObject({ ...DuplicateTaskInput.properties, id: Id })),
  uploadFile: userAction(Type.Unsafe<FileToUpload>({})),
  tryPrompt: userAction(
    strictObject({
      ...TypedTask,
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
