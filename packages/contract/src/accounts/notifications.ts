import { type Static, Type } from '@sinclair/typebox';
import { Pagination, success } from '../envelopes.ts';
import { errorResponses, IDEMPOTENCY_ERRORS, type Operation, SIGNED_IN } from '../operation.ts';
import { Cursor, Id, IdParams, Instant, nullable, Offset, pageLimit, ref } from '../primitives.ts';

const common = { tags: ['notifications'], security: SIGNED_IN };

export const Notification = Type.Object(
  {
    id: Id,
    kind: Type.String({
      description:
        '`usage.alert`, `webhook.failed`, `channel.failed`, `task.failed`, the kind of an alert, or `alert.undelivered`; others may be added',
    }),
    title: Type.String(),
    message: Type.String(),
    readAt: nullable(Instant),
    createdAt: Instant,
  },
  { $id: 'Notification' },
);

export const ListNotificationsQuery = Type.Object({
  unread: Type.Optional(
    Type.Boolean({ description: '`true` for unread, `false` for read notifications. Default: both' }),
  ),
  limit: pageLimit(20),
  offset: Offset,
  cursor: Type.Optional(Cursor),
});
export type ListNotificationsQuery = Static<typeof ListNotificationsQuery>;

export const listNotifications = {
  ...common,
  operationId: 'listNotifications',
  summary: 'List notifications',
  description:
    "Returns the caller's notifications, newest first. Pages by `offset`, or by `cursor`, which stays fast on late pages and takes precedence if both are given.",
  querystring: ListNotificationsQuery,
  response: {
    200: Type.Object({ success, notifications: Type.Array(ref(Notification)), pagination: Pagination }),
    ...errorResponses(401, 429),
  },
} satisfies Operation;

export const readNotification = {
  ...common,
  operationId: 'readNotification',
  summary: 'Mark a notification as read',
  description: 'Idempotent: `readAt` keeps the first time.',
  params: IdParams,
  response: { 200: Type.Object({ success }), ...IDEMPOTENCY_ERRORS, ...errorResponses(401, 403, 404, 429) },
} satisfies Operation;
