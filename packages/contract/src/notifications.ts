import { type Static, Type } from '@sinclair/typebox';
import { Pagination, success } from './envelopes.ts';
import { errorResponses, type Operation, SIGNED_IN } from './operation.ts';
import { Cursor, Id, IdParams, Instant, nullable, Offset, pageLimit } from './primitives.ts';

/** What the dashboard shows: decisions §9. */

const common = { tags: ['notifications'], security: SIGNED_IN };

export const Notification = Type.Object({
  id: Id,
  kind: Type.String({ description: '`usage.alert`, `webhook.failed`, `task.failed` and others to come' }),
  title: Type.String(),
  message: Type.String(),
  readAt: nullable(Instant),
  createdAt: Instant,
});

export const ListNotificationsQuery = Type.Object({
  unread: Type.Optional(Type.Boolean({ description: 'true: the unread ones, false: the read ones' })),
  limit: pageLimit(20),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListNotificationsQuery = Static<typeof ListNotificationsQuery>;

export const listNotifications = {
  ...common,
  operationId: 'listNotifications',
  summary: "The caller's notifications, newest first",
  description:
    'What the dashboard shows. Pages by `offset`, or by `cursor`, which does not slow down and is the one that counts where both are given.',
  querystring: ListNotificationsQuery,
  response: {
    200: Type.Object({ success, notifications: Type.Array(Notification), pagination: Pagination }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

export const readNotification = {
  ...common,
  operationId: 'readNotification',
  summary: 'Mark a notification as read',
  description: 'Marked twice, it stays as it was.',
  params: IdParams,
  response: { 200: Type.Object({ success }), ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;
