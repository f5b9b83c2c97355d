import { Type } from '@sinclair/typebox';
import { Cursor, Id, strictObject } from '../../primitives.ts';
import { userAction } from './define.ts';

export const alertActions = {
  listAlerts: userAction(strictObject({ taskId: Type.Optional(Id), cursor: Type.Optional(Cursor) })),
};
