import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { accountDeleted } from '../errors.ts';
import { executionStats, successRate, taskStats } from '../stats/user-counts.ts';

/** The caller's account with its figures (specification "User"), in one statement. */
export async function getProfile(ctx: Context, caller: Caller) {
  const [row] = await ctx.db
    .select({
      user: {
        id: users.id,
        identityUserId: users.identityUserId,
        email: users.email,
        name: users.name,
        role: users.role,
        timezone: users.timezone,
        isActive: users.isActive,
        trialEndsAt: users.trialEndsAt,
        createdAt: users.createdAt,
      },
      ...taskStats,
      ...executionStats,
    })
    .from(users)
    .where(eq(users.id, caller.id));
  if (!row) throw accountDeleted();
  const { user, totalTasks, activeTasks, completed, failed, live } = row;
  const totalExecutions = completed + failed + live;
  return { ...user, stats: { totalTasks, activeTasks, totalExecutions, successRate: successRate(completed, failed) } };
}
