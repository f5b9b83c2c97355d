import { DAY_MS } from '@carillon/contract/primitives';
import { notifications, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, desc, eq, inArray, isNull, lte, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { queueMails } from '../../lib/mail/queue.ts';
import { findConfirmed } from './addresses.ts';
import { queueNotices } from './queue-notices.ts';

export interface Notice {
  userId: number;
  kind: string;
  title: string;
  message: string;
  /** Default: the user's setting. */
  byMail?: boolean;
  /** Of the page that shows more, such as `/executions/7`. */
  path: string;
  alertId?: number;
  /** The task of an alert that its own channels get too. */
  taskId?: number;
  /** The address for the results of a task. It gets the mail too, if it is confirmed, whatever the user's setting is. */
  taskEmail?: string | null;
}

/** Mails of one account in 24 hours, so that a task that fails all day fills no mailbox. */
const MAX_MAILS_PER_DAY = 200;

/** Call it in the transaction of the change that it reports. */
export async function notifyUsers(ctx: Context, notices: readonly Notice[]): Promise<void> {
  if (notices.length === 0) return;
  const createdAt = ctx.now();
  const userIds = notices.map(({ userId }) => userId);
  const taskEmails = notices.flatMap(({ taskEmail }) => taskEmail ?? []);
  const [active, isConfirmed] = await Promise.all([
    ctx.db
      .select({
        id: users.id,
        email: users.email,
        language: users.language,
        emailVerifiedAt: users.emailVerifiedAt,
        notifyEmail: users.notifyEmail,
        notificationEmails: sql<string[]>`array(select a.email from notification_addresses a
          where a.user_id = "users"."id" and a.confirmed_at is not null and a.email = any("users"."notification_emails"))`,
        recentMails: sql<number>`(select count(*)::int from mails m
          where m.user_id = "users"."id" and m.created_at > ${new Date(createdAt.getTime() - DAY_MS).toISOString()})`,
      })
      .from(users)
      .where(and(inArray(users.id, userIds), eq(users.isActive, true))),
    findConfirmed(ctx, userIds, taskEmails),
    ctx.db
      .insert(notifications)
      .values(
        notices.map(({ userId, kind, title, message, path }) => ({ userId, kind, title, message, path, createdAt })),
      ),
    queueNotices(
      ctx,
      notices.map(({ userId, kind, title, message, path, alertId = null, taskId = null }) => {
        return { userId, kind, title, message, path, alertId, taskId };
      }),
    ),
  ]);
  const recipients = new Map(active.map((user) => [user.id, user]));
  const mails = notices.flatMap(({ userId, title, message, byMail, path, alertId, taskEmail }) => {
    const user = recipients.get(userId);
    if (!user) return [];
    const { email } = user;
    const texts = getTexts(user.language).mails;
    const isWanted = (byMail ?? user.notifyEmail) && user.recentMails < MAX_MAILS_PER_DAY;
    const others = new Set(isWanted ? user.notificationEmails : []);
    const isOwnTaskEmail = taskEmail === email && user.emailVerifiedAt !== null;
    const footers = new Map<string, string>();
    if (taskEmail && (isOwnTaskEmail || isConfirmed(userId, taskEmail)))
      footers.set(taskEmail, texts.taskFooter(email));
    for (const other of others) footers.set(other, texts.addressFooter(email));
    if (isWanted) footers.set(email, texts.ownFooter);
    return [...footers].map(([to, footer]) => {
      const text = `${message}\n\n${ctx.config.appUrl}${path}\n\n-- \n${footer}\n`;
      return { to, userId, alertId, subject: title, text };
    });
  });
  await queueMails(ctx, mails);
}

/** One that was read before keeps its time. Throws 404. */
export async function markRead(ctx: Context, caller: Caller, id: number): Promise<void> {
  const { count } = await ctx.db
    .update(notifications)
    .set({ readAt: sql`coalesce(${notifications.readAt}, ${ctx.now().toISOString()})` })
    .where(and(eq(notifications.id, id), eq(notifications.userId, caller.id)));
  if (count === 0) throw new AppError('not_found', 'Notification not found');
}

/** One call marks no more, so that it stays short. */
const MAX_MARKED = 10_000;

/** Marks unread ones up to the id `until`, the newest first: what came later was not seen. */
export async function markAllRead(
  ctx: Context,
  caller: Caller,
  until: number,
): Promise<{ count: number; isComplete: boolean }> {
  const unread = ctx.db
    .select({ id: notifications.id })
    .from(notifications)
    .where(and(eq(notifications.userId, caller.id), isNull(notifications.readAt), lte(notifications.id, until)))
    .orderBy(desc(notifications.id))
    .limit(MAX_MARKED);
  const { count } = await ctx.db
    .update(notifications)
    .set({ readAt: ctx.now() })
    .where(and(inArray(notifications.id, unread), isNull(notifications.readAt)));
  return { count, isComplete: count < MAX_MARKED };
}
