import { notifications } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { AppError } from '../errors.ts';

/** Marks a notification of the caller's as read; one that was read before keeps its time. Refusal: 404. */
export async function readNotification(ctx: Context, caller: Caller, id: number): Promise<void> {
  const read = await ctx.db
    .update(notifications)
    .set({ readAt: sql`coalesce(${notifications.readAt}, ${ctx.now().toISOString()})` })
    .where(and(eq(notifications.id, id), eq(notifications.userId, caller.id)))
    .returning({ id: notifications.id });
  if (read.length === 0) throw new AppError('not_found', 'There is no such notification.');
}
