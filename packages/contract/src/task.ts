import { type Static, Type } from '@sinclair/typebox';
import { Email, HttpUrl, Id, Instant, InstantText, nullable, strict, TaskName, TimeZone, words } from './primitives.ts';

/** Specification "Task"; decisions §5. What a task is, and what may be said about one. */

export const RECURRENCES = ['once', 'daily', 'weekly', 'monthly'] as const;
export const Recurrence = words(RECURRENCES);
export type Recurrence = Static<typeof Recurrence>;

export const TASK_STATUSES = ['active', 'paused', 'completed', 'failed'] as const;
export const TaskStatus = words(TASK_STATUSES);
export type TaskStatus = Static<typeof TaskStatus>;

export const FATES = ['ran', 'late', 'skipped_overlap', 'missed', 'over_quota'] as const;
export const Fate = words(FATES);
export type Fate = Static<typeof Fate>;

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
    createdAt: Instant,
    updatedAt: Instant,
  },
  { $id: 'Task' },
);
export type Task = Static<typeof Task>;

export const Prompt = Type.String({ minLength: 10, maxLength: 200_000, pattern: '\\S' });
const Description = Type.String({ maxLength: 500 });
export const RecurrencePattern = Type.String({
  minLength: 1,
  maxLength: 256,
  description: "Five-field cron expression in the task's time zone; when present it decides the next runs",
});
const modelSettings = {
  aiModel: Type.Optional(Type.String({ minLength: 1, maxLength: 200, pattern: '^\\S+$' })),
  maxTokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 200_000, description: '1024 unless told' })),
  temperature: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 200, description: 'Hundredths, 70 (0.70) unless told' }),
  ),
  attachments: Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), {
      maxItems: 10,
      description: "URLs or ids of the caller's uploads, of at most 20 MiB together",
    }),
  ),
};

/** Who is told when a run of the task ends. */
const addresses = {
  webhookUrl: Type.Optional(
    nullable({
      ...HttpUrl,
      description:
        'Is sent `execution.completed` and `execution.failed` of this task, by a webhook of its own; null for none',
    }),
  ),
  notificationEmail: Type.Optional(
    nullable({ ...Email, description: 'Gets a mail when a run ends and no retry follows; null for none' }),
  ),
};
const OwnStatus = words(['active', 'paused']);

export const CreateTaskInput = strict({
  name: TaskName,
  description: Type.Optional(nullable(Description)),
  prompt: Prompt,
  scheduledFor: InstantText,
  recurrence: Recurrence,
  recurrencePattern: Type.Optional(nullable(RecurrencePattern)),
  timezone: TimeZone,
  ...modelSettings,
  ...addresses,
  status: Type.Optional({ ...OwnStatus, description: '`active` unless told' }),
});
export type CreateTaskInput = Static<typeof CreateTaskInput>;

export const ChangeTaskInput = strict({
  name: Type.Optional(TaskName),
  description: Type.Optional(nullable(Description)),
  prompt: Type.Optional(Prompt),
  scheduledFor: Type.Optional(InstantText),
  recurrence: Type.Optional(Recurrence),
  recurrencePattern: Type.Optional(nullable(RecurrencePattern)),
  timezone: Type.Optional(TimeZone),
  ...modelSettings,
  ...addresses,
  status: Type.Optional(OwnStatus),
});
export type ChangeTaskInput = Static<typeof ChangeTaskInput>;

export const PreviewTaskInput = strict({
  scheduledFor: InstantText,
  recurrence: Recurrence,
  recurrencePattern: Type.Optional(nullable(RecurrencePattern)),
  timezone: TimeZone,
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: '10 unless told' })),
});
export type PreviewTaskInput = Static<typeof PreviewTaskInput>;

/** A row of the occurrence ledger: what became of one planned instant. */
export const Occurrence = Type.Object(
  {
    plannedFor: Instant,
    fate: Fate,
    recordedAt: Instant,
    executionId: nullable(Id),
    startedAt: nullable(Instant),
    latenessMs: nullable(Type.Integer({ description: 'From the planned instant to the start' })),
  },
  { $id: 'Occurrence' },
);
export type Occurrence = Static<typeof Occurrence>;

/** An instant that a schedule will reach. */
export const PlannedOccurrence = Type.Object({
  at: Instant,
  local: Type.String({ description: "The same instant as the wall clock in the task's time zone" }),
  note: Type.Optional(Type.String({ description: 'Which rule bent it: a clock change, a short month' })),
});
export type PlannedOccurrence = Static<typeof PlannedOccurrence>;
