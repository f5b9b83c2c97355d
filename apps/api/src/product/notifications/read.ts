import type { ListNotificationsQuery } from '@carillon/contract/accounts/notifications';
import { notifications } from '@carillon/db';
import { and, desc, eq, isNotNull, isNull, lt } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { decodeIdCursor, splitPage } from '../../platform/queries/pages.ts';

const notificationFields = {
  id: notifications.id,
  kind: notifications.kind,
  title: notifications.title,
  message: notifications.message,
  readAt: notifications.readAt,
  createdAt: notifications.createdAt,
};

export async function listNotifications(ctx: Context, caller: Caller, query: ListNotificationsQuery) {
  const { unread, limit } = query;
  const before = decodeIdCursor(query.cursor);
  const offset = before === null ? query.offset : 0;
  const { readAt } = notifications;
  const matching = and(
    eq(notifications.userId, caller.id),
    unread === undefined ? undefined : unread ? isNull(readAt) : isNotNull(readAt),
  );
  const [rows, total] = await Promise.all([
    ctx.db
      .select(notificationFields)
      .from(notifications)
      .where(and(matching, before === null ? undefined : lt(notifications.id, before)))
      .orderBy(desc(notifications.id))
      .limit(limit + 1)
      .offset(offset),
    before === null ? ctx.db.$count(notifications, matching) : null,
  ]);
  const { page, hasMore, nextCursor } = splitPage(rows, limit, (notification) => notification.id);
  return { notifications: page, pagination: { total, limit, offset, hasMore, nextCursor } };
}

/** For notifications from before their path was stored: the list with the thing. */
const PLACES: Readonly<Record<string, string>> = {
  usage: '/usage',
  quota: '/usage',
  trial: '/usage',
  task: '/tasks',
  model: '/tasks',
  webhook: '/webhooks',
  channel: '/channels',
  alert: '/alerts',
  scheduler: '/admin',
  backup: '/admin',
};

/** The kind begins with what it is about, as `task.failed`. */
const withPath = <N extends { kind: string; path: string | null }>(notification: N): N => ({
  ...notification,
  path: notification.path ?? PLACES[notification.kind.split('.')[0] ?? ''] ?? null,
});

const PAGE = 25;

/** With the pages that show more, and without a total, whose time grows with the list. */
export async function listLatestNotifications(
  { db }: Context,
  caller: Caller,
  { unread, cursor }: { unread: boolean; cursor?: string },
) {
  const before = decodeIdCursor(cursor);
  const { userId, id, readAt } = notifications;
  const rows = await db
    .select({ ...notificationFields, path: notifications.path })
    .from(notifications)
    .where(
      and(eq(userId, caller.id), unread ? isNull(readAt) : undefined, before === null ? undefined : lt(id, before)),
    )
    .orderBy(desc(id))
    .limit(PAGE + 1);
  const { page, nextCursor } = splitPage(rows, PAGE, (notification) => notification.id);
  return { notifications: page.map(withPath), nextCursor };
}
