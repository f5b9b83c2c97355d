import type { ListUsersQuery } from '@carillon/contract/admin-users';
import { users } from '@carillon/db';
import { and, desc, eq, ilike, inArray, or } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { containsPattern } from '../queries/like-pattern.ts';
import { executionStats, successRate, taskStats } from '../stats/user-counts.ts';
import { findActivity } from './activity.ts';

const fields = {
  id: users.id,
  identityUserId: users.identityUserId,
  email: users.email,
  name: users.name,
  role: users.role,
  isActive: users.isActive,
  trialEndsAt: users.trialEndsAt,
  createdAt: users.createdAt,
};

/** All accounts that match, the newest first (specification "Admin"). */
export async function listUsers(ctx: Context, { limit, offset, search, role, isActive }: ListUsersQuery) {
  const pattern = search ? containsPattern(search.trim()) : null;
  const matching = and(
    pattern === null ? undefined : or(ilike(users.email, pattern), ilike(users.name, pattern)),
    role ? eq(users.role, role) : undefined,
    isActive === undefined ? undefined : eq(users.isActive, isActive),
  );
  // A query of its own: what the page leaves out would be counted, too.
  const page = ctx.db
    .select({ id: users.id })
    .from(users)
    .where(matching)
    .orderBy(desc(users.id))
    .limit(limit)
    .offset(offset);
  const [found, total] = await Promise.all([
    ctx.db
      .select({ user: fields, totalTasks: users.taskCount, ...executionStats })
      .from(users)
      .where(inArray(users.id, page))
      .orderBy(desc(users.id)),
    ctx.db.$count(users, matching),
  ]);
  return {
    users: found.map(({ user, totalTasks, completed, failed, live }) => ({
      ...user,
      stats: { totalTasks, totalExecutions: completed + failed + live },
    })),
    pagination: { total, limit, offset, pages: Math.ceil(total / limit) },
  };
}

/** One account with its figures and the last 20 things that happened to it (specification "Admin", decisions §9). */
export async function getAccount(ctx: Context, id: number) {
  const [[found], recentActivity] = await Promise.all([
    ctx.db
      .select({
        user: { ...fields, timezone: users.timezone, updatedAt: users.updatedAt },
        ...taskStats,
        ...executionStats,
      })
      .from(users)
      .where(eq(users.id, id)),
    findActivity(ctx, id),
  ]);
  if (!found) return refuseUser();
  const { user, totalTasks, activeTasks, completed, failed, live } = found;
  const totalExecutions = completed + failed + live;
  const rate = successRate(completed, failed);
  const stats = { totalTasks, activeTasks, totalExecutions, successRate: rate, failedExecutions: failed };
  return { ...user, stats, recentActivity };
}

export const refuseUser = (): never => {
  throw new AppError('not_found', 'There is no such user.');
};
