import { Type } from '@sinclair/typebox';
import { Cursor, Id, strictObject } from '../../primitives.ts';
import { userAction } from './define.ts';

export const notificationActions = {
  listNotifications: userAction(strictObject({ unread: Type.Boolean(), cursor: Type.Optional(Cursor) })),
  readNotification: userAction(strictObject({ id: Id })),
  readAllNotifications: userAction(
    strictObject({ until: Type.Integer({ minimum: 1, description: 'The newest one that the person has seen' }) }),
  ),
};
