import { Type } from '@sinclair/typebox';
import { Cursor, Id, nullable, strictObject } from '../../primitives.ts';
import { Alert } from '../../tasks/alerts.ts';
import { userAction } from './define.ts';

export const alertActions = {
  listAlerts: userAction(
    strictObject({ taskId: Type.Optional(Id), cursor: Type.Optional(Cursor) }),
    Type.Object({ alerts: Type.Array(Alert), nextCursor: nullable(Type.String()) }),
  ),
};
