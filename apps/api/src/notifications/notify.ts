import { notifications, users } from '@carillon/db';
import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { queueMails } from '../mail/queue.ts';

export interface Notice {
  userId: number;
  kind: string;
  title: string;
  message: string;
  /** Whether it is sent by mail too; unset: as the user wishes in general. */
  byMail?: boolean;
}

/**
 * Mails about one account in 24 hours, from which on its notifications are on the dashboard alone: its settings name
 * addresses that nobody has confirmed, and what it is told of can be brought about again and again.
 */
const MOST_MAILS_A_DAY = 200;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Tells users on their dashboard, and by mail those who want that: at the address of the account, and at those that it
 * names for notifications beside it (decisions §9). Call it in the transaction of what it tells of.
 */
export async function notifyUsers(ctx: Context, notices: readonly Notice[]): Promise<void> {
  if (notices.length === 0) return;
  const createdAt = ctx.now();
  const userIds = notices.map(({ userId }) => userId);
  const [readers] = await Promise.all([
    ctx.db
      .select({
        id: users.id,
        email: users.email,
        notifyEmail: users.notifyEmail,
        notificationEmails: users.notificationEmails,
        mailsOfDay: sql<number>`(select count(*)::int from mails m
          where m.user_id = "users"."id" and m.created_at > ${new Date(createdAt.getTime() - DAY_MS).toISOString()})`,
      })
      .from(users)
      .where(and(inArray(users.id, userIds), eq(users.isActive, true))),
    ctx.db
      .insert(notifications)
      .values(notices.map(({ userId, kind, title, message }) => ({ userId, kind, title, message, createdAt }))),
  ]);
  const readerOf = new Map(readers.map((reader) => [reader.id, reader]));
  const mails = notices.flatMap(({ userId, title, message, byMail }) => {
    const reader = readerOf.get(userId);
    if (!reader || !(byMail ?? reader.notifyEmail) || reader.mailsOfDay >= MOST_MAILS_A_DAY) return [];
    const { email } = reader;
    return [...new Set([email, ...reader.notificationEmails])].map((to) => {
      const why = to === email ? WHY_OWNER : WHY_OTHER(email);
      return { to, userId, subject: title, text: `${message}\n\n${ctx.config.appUrl}\n\n-- \n${why}\n` };
    });
  });
  await queueMails(ctx, mails);
}

const WHY_OWNER = 'You get this as the owner of a Carillon account. Its settings say who gets such mail, and whether.';
const WHY_OTHER = (email: string) =>
  `You get this because the Carillon account ${email} has its notifications sent to this address too.`;
