import { notifications, users } from '@carillon/db';
import { and, eq, inArray } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { queueMails } from '../mails/queue.ts';

export interface Notice {
  userId: number;
  kind: string;
  title: string;
  message: string;
}

/**
 * Tells users on their dashboard, and by mail those who want that (decisions §9). Call it in the transaction of what it
 * tells of.
 */
export async function notifyUsers(ctx: Context, notices: readonly Notice[]): Promise<void> {
  if (notices.length === 0) return;
  const createdAt = ctx.now();
  const userIds = notices.map(({ userId }) => userId);
  const [readers] = await Promise.all([
    ctx.db
      .select({ id: users.id, email: users.email })
      .from(users)
      .where(and(inArray(users.id, userIds), eq(users.notifyEmail, true), eq(users.isActive, true))),
    ctx.db.insert(notifications).values(notices.map((notice) => ({ ...notice, createdAt }))),
  ]);
  const addresses = new Map(readers.map(({ id, email }) => [id, email]));
  const mails = notices.flatMap(({ userId, title, message }) => {
    const to = addresses.get(userId);
    return to === undefined ? [] : [{ to, userId, subject: title, text: `${message}\n\n${ctx.config.appUrl}\n` }];
  });
  await queueMails(ctx, mails);
}
