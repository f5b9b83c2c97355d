import { Type } from '@sinclair/typebox';
import { Notification } from '../../accounts/notifications.ts';
import { Cursor, Id, nullable, strictObject } from '../../primitives.ts';
import { NoData, userAction } from './define.ts';

export const notificationActions = {
  listNotifications: userAction(
    strictObject({ unread: Type.Boolean(), cursor: Type.Optional(Cursor) }),
    Type.Object({ notifications: Type.Array(Notification), nextCursor: nullable(Type.String()) }),
  ),
  readNotification: userAction(strictObject({ id: Id }), NoData),
  readAllNotifications: userAction(
    strictObject({ until: Type.Integer({ minimum: 1, description: 'The newest one that the person has seen' }) }),
    Type.Object({ count: Type.Integer(), isComplete: Type.Boolean() }),
  ),
};
