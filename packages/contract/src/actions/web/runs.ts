import { Type } from '@sinclair/typebox';
import { ExecutionStatus, SeeExecutionsInput } from '../../executions.ts';
import { Cursor, Id, pageLimit, strictObject, stringEnum, Uuid } from '../../primitives.ts';
import { AskInput } from '../../questions.ts';
import { userAction } from './define.ts';

const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'A day in the time zone of the profile' });

/** What happened to a run; `failed` without refused and stopped ones. */
export const RUN_OUTCOMES = ['changed', 'late', 'failed', 'over_quota', 'stopped'] as const;

const RunFilter = {
  taskId: Type.Optional(Id),
  taskName: Type.Optional(Type.String({ maxLength: 100, description: 'A part of the name of the task' })),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
};

const ListRunsInput = strictObject({
  ...RunFilter,
  status: Type.Optional(ExecutionStatus),
  outcome: Type.Optional(stringEnum(RUN_OUTCOMES)),
  unseen: Type.Optional(Type.Boolean()),
  /** Words of the result or the prompt. */
  search: Type.Optional(Type.String({ maxLength: 200 })),
  limit: pageLimit(25),
  cursor: Type.Optional(Cursor),
});

export const runActions = {
  /** The latest planned runs that did not take place. */
  listMissedRuns: userAction(strictObject(RunFilter)),
  /** All that have ended, or those that have ended before an instant. */
  seeRuns: userAction(SeeExecutionsInput),
  listRuns: userAction(ListRunsInput),
  /** `against`: another run of its task, to compare the answers. */
  getRun: userAction(strictObject({ id: Id, against: Type.Optional(Id) })),
  askRun: userAction(strictObject({ ...AskInput.properties, id: Id })),
  getQuestion: userAction(strictObject({ id: Id })),
  retryRun: userAction(strictObject({ id: Id })),
  /** Runs the task of this run. */
  runAgain: userAction(strictObject({ id: Id, attempt: Type.Optional(Uuid) })),
  cancelRun: userAction(strictObject({ id: Id })),
  deliverAgain: userAction(strictObject({ webhookId: Uuid, deliveryId: Uuid, isChannel: Type.Boolean() })),
};
