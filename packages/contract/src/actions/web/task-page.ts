import { type Static, Type } from '@sinclair/typebox';
import { ChannelChoice } from '../../channels/choices.ts';
import { ErrorCode, Execution, ExecutionStatus, Trigger } from '../../executions.ts';
import { BackfillTaskInput, PlannedOccurrence } from '../../occurrences.ts';
import { Id, Instant, InstantInput, nullable, strictObject } from '../../primitives.ts';
import { Task } from '../../tasks.ts';
import { CONFIRMATION, NoData, userAction } from './define.ts';
import { IsChanged } from './runs.ts';
import { PlannedFate, RecentCost } from './task-list.ts';

export const PlannedRun = Type.Object({
  plannedFor: Instant,
  fate: PlannedFate,
  latenessMs: nullable(Type.Number()),
});

export const TaskRun = Type.Object({
  id: Id,
  status: ExecutionStatus,
  trigger: Trigger,
  attempt: Type.Integer(),
  plannedFor: nullable(Instant),
  createdAt: Instant,
  runAt: Instant,
  isQueued: Type.Boolean(),
  startedAt: nullable(Instant),
  completedAt: nullable(Instant),
  /** The beginning of the answer. */
  excerpt: nullable(Type.String()),
  error: nullable(Type.String()),
  errorCode: nullable(ErrorCode),
  costUsd: nullable(Type.Number()),
  processingTimeMs: nullable(Type.Integer()),
  isChanged: IsChanged,
});
export type TaskRun = Static<typeof TaskRun>;

export const TaskAnswer = Type.Object({
  id: Id,
  text: Type.String(),
  /** The parsed text of a task with a schema; null without one. */
  output: Type.Unknown(),
  /** The watched values that differ from those of the success before. */
  changes: Execution.properties.changes,
  model: nullable(Type.String()),
  plannedFor: nullable(Instant),
  completedAt: Instant,
});
export type TaskAnswer = Static<typeof TaskAnswer>;

const TaskPage = Type.Object({
  task: Task,
  /** The last 30, oldest first. */
  planned: Type.Array(PlannedRun),
  /** The last 30, newest first. */
  runs: Type.Array(TaskRun),
  /** The last two among the latest runs, newest first. */
  answers: Type.Array(TaskAnswer),
  attachments: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), size: Type.Integer() })),
  /** Those that the task names. */
  channels: Type.Array(ChannelChoice),
  /** When the address of its feed was made; null without one. */
  feedCreatedAt: nullable(Instant),
  cost: RecentCost,
  /** The next ten, if the task is active. */
  next: Type.Array(PlannedOccurrence),
});

/** Null for the account. */
const FeedOwner = strictObject({ taskId: nullable(Id) });

export const taskPageActions = {
  getTaskPage: userAction(strictObject({ id: Id }), TaskPage),
  /** Null ends the pause. */
  pauseTaskUntil: userAction(strictObject({ id: Id, until: nullable(InstantInput) }), NoData),
  /** Skips the next run if it is the one that the page shows. */
  skipNextRun: userAction(strictObject({ id: Id, plannedFor: InstantInput }), NoData),
  /** Of a task, or of the account. A former address ends. */
  createFeed: userAction(
    strictObject({ ...FeedOwner.properties, ...CONFIRMATION }),
    Type.Object({ url: Type.String() }),
  ),
  endFeed: userAction(FeedOwner, NoData),
  backfillTask: userAction(
    strictObject({ ...BackfillTaskInput.properties, id: Id }),
    Type.Object({ queued: Type.Integer() }),
  ),
};
