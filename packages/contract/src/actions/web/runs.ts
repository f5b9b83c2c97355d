import { Type } from '@sinclair/typebox';
import { ExecutionStatus } from '../../executions.ts';
import { Cursor, Id, pageLimit, strictObject, Uuid } from '../../primitives.ts';
import { userAction } from './define.ts';

const Day = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\d$', description: 'A day in the time zone of the profile' });

const ListRunsInput = strictObject({
  taskId: Type.Optional(Id),
  status: Type.Optional(ExecutionStatus),
  from: Type.Optional(Day),
  to: Type.Optional(Day),
  limit: pageLimit(25),
  cursor: Type.Optional(Cursor),
});

export const runActions = {
  listRuns: userAction(ListRunsInput),
  getRun: userAction(strictObject({ id: Id })),
  retryRun: userAction(strictObject({ id: Id })),
  /** Runs the task of this run. */
  runAgain: userAction(strictObject({ id: Id })),
  cancelRun: userAction(strictObject({ id: Id })),
  deliverAgain: userAction(strictObject({ webhookId: Uuid, deliveryId: Uuid, isChannel: Type.Boolean() })),
};
