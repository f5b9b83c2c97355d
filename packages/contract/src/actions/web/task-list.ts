import { type Static, Type } from '@sinclair/typebox';
import { ErrorCode, ExecutionStatus } from '../../executions.ts';
import { FATES } from '../../occurrences.ts';
import { Id, Instant, MAX_ID, nullable, strictObject, stringEnum } from '../../primitives.ts';
import { Recurrence, TaskStatus } from '../../tasks.ts';
import { userAction } from './define.ts';
import { IsChanged } from './runs.ts';

export const TASK_SORTS = ['next', 'name', 'newest'] as const;
export const TASK_PAGE_SIZE = 25;

/**
 * As in the ledger; a planned run whose last attempt failed has `failed`, one that has not ended `running`, and one whose
 * watched answer has changed `changed`.
 */
export const PlannedFate = stringEnum([...FATES, 'running', 'failed', 'changed']);
export type PlannedFate = Static<typeof PlannedFate>;

const ListInput = strictObject({
  sort: stringEnum(TASK_SORTS),
  status: Type.Optional(TaskStatus),
  search: Type.Optional(Type.String({ maxLength: 100 })),
  cursor: Type.Optional(Type.String({ maxLength: 1000 })),
});

/** The sum of the runs of 30 days; `isPartial` if there are more runs than were added up. */
export const RecentCost = Type.Object({ usd: Type.Number(), isPartial: Type.Boolean() });

export const TaskListRow = Type.Object({
  id: Id,
  name: Type.String(),
  status: TaskStatus,
  scheduledFor: Instant,
  recurrence: Recurrence,
  recurrencePattern: nullable(Type.String()),
  timezone: Type.String(),
  nextExecutionAt: nullable(Instant),
  /** Of the last 30 planned runs, oldest first. */
  fates: Type.Array(PlannedFate),
  lastPlanned: nullable(Type.Object({ plannedFor: Instant, fate: PlannedFate })),
  lastRun: nullable(
    Type.Object({
      id: Id,
      status: ExecutionStatus,
      attempt: Type.Integer(),
      errorCode: nullable(ErrorCode),
      plannedFor: nullable(Instant),
      at: Instant,
      isChanged: IsChanged,
    }),
  ),
  cost: RecentCost,
});
export type TaskListRow = Static<typeof TaskListRow>;

const TaskList = Type.Object({
  tasks: Type.Array(TaskListRow),
  /** Of all tasks, whatever the filter. */
  total: Type.Integer(),
  nextCursor: nullable(Type.String()),
  /** Whether the search stopped before the end, and continues at `nextCursor`. */
  isUnfinished: Type.Boolean(),
});

const Ids = Type.Array(Type.Integer({ minimum: 1, maximum: MAX_ID }), { minItems: 1, maxItems: TASK_PAGE_SIZE });

const Outcomes = Type.Object({
  done: Type.Array(Id),
  /** Why each of the others could not be changed. */
  refused: Type.Array(Type.Object({ id: Id, reason: Type.String() })),
});

export const taskListActions = {
  getTaskList: userAction(ListInput, TaskList),
  /** Those of `ids` that the caller owns. */
  getTaskNames: userAction(
    strictObject({ ids: Ids }),
    Type.Object({ tasks: Type.Array(Type.Object({ id: Id, name: Type.String(), executionCount: Type.Integer() })) }),
  ),
  runTasks: userAction(strictObject({ ids: Ids }), Outcomes),
  setTaskStatuses: userAction(strictObject({ ids: Ids, status: stringEnum(['active', 'paused']) }), Outcomes),
  deleteTasks: userAction(strictObject({ ids: Ids }), Outcomes),
};
