import { sessions } from '@carillon/db';
import { and, desc, eq, gt } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';

export async function listSessions(ctx: Context, caller: Caller) {
  const { id, userAgent, address, createdAt, lastUsedAt, expiresAt } = sessions;
  const found = await ctx.db
    .select({ id, userAgent, address, createdAt, lastUsedAt, expiresAt })
    .from(sessions)
    .where(and(eq(sessions.userId, caller.id), gt(sessions.expiresAt, ctx.now())))
    .orderBy(desc(sessions.lastUsedAt), desc(sessions.createdAt), desc(sessions.id));
  return found.map((session) => ({ ...session, current: session.id === caller.sessionId }));
}
