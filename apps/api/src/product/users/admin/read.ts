import type { ListUsersQuery } from '@carillon/contract/admin/users';
import { users } from '@carillon/db';
import { and, desc, eq, ilike, inArray, or } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { userNotFound } from '../../../errors.ts';
import { containsPattern, readOffsetPage } from '../../../platform/queries/pages.ts';
import { executionStats, successRate, taskStats } from '../../../platform/queries/user-counts.ts';
import { listActivity } from './activity.ts';

export const accountColumns = {
  id: users.id,
  identityUserId: users.identityUserId,
  email: users.email,
  name: users.name,
  role: users.role,
  plan: users.plan,
  isActive: users.isActive,
  trialEndsAt: users.trialEndsAt,
  createdAt: users.createdAt,
};

interface AccountsQuery extends ListUsersQuery {
  plan?: (typeof users.$inferSelect)['plan'] | undefined;
}

/** All accounts that match, newest first; `search` matches a part of the e-mail address or the name. */
export async function listUsers(ctx: Context, { search, role, plan, isActive, ...query }: AccountsQuery) {
  const pattern = search ? containsPattern(search.trim()) : null;
  const filter = and(
    pattern === null ? undefined : or(ilike(users.email, pattern), ilike(users.name, pattern)),
    role ? eq(users.role, role) : undefined,
    plan ? eq(users.plan, plan) : undefined,
    isActive === undefined ? undefined : eq(users.isActive, isActive),
  );
  const { page, pagination } = await readOffsetPage(
    query,
    ({ limit, offset }) => {
      // A subquery: otherwise the counts would be computed for the rows before the offset too.
      const ids = ctx.db
        .select({ id: users.id })
        .from(users)
        .where(filter)
        .orderBy(desc(users.id))
        .limit(limit)
        .offset(offset);
      return ctx.db
        .select({ user: accountColumns, totalTasks: users.taskCount, ...executionStats })
        .from(users)
        .where(inArray(users.id, ids))
        .orderBy(desc(users.id));
    },
    () => ctx.db.$count(users, filter),
  );
  return {
    users: page.map(({ user, totalTasks, completed, failed, live }) => ({
      ...user,
      stats: { totalTasks, totalExecutions: completed + failed + live },
    })),
    pagination: { ...pagination, pages: Math.ceil(pagination.total / pagination.limit) },
  };
}

/** An account with its counts and its latest activity. Throws 404. */
export async function getAccount(ctx: Context, id: number) {
  const [[found], recentActivity] = await Promise.all([
    ctx.db
      .select({
        user: { ...accountColumns, timezone: users.timezone, updatedAt: users.updatedAt },
        ...taskStats,
        ...executionStats,
      })
      .from(users)
      .where(eq(users.id, id)),
    listActivity(ctx, id),
  ]);
  if (!found) throw userNotFound();
  return { ...found.user, stats: toAccountStats(found), recentActivity };
}

interface AccountCounts {
  totalTasks: number;
  activeTasks: number;
  completed: number;
  failed: number;
  live: number;
}

export const toAccountStats = ({ totalTasks, activeTasks, completed, failed, live }: AccountCounts) => ({
  totalTasks,
  activeTasks,
  totalExecutions: completed + failed + live,
  successRate: successRate(completed, failed),
  failedExecutions: failed,
});
