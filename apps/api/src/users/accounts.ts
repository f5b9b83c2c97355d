import type { ListUsersQuery } from '@carillon/contract/admin-users';
import { executions, users } from '@carillon/db';
import { and, desc, eq, ilike, inArray, or, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { containing } from '../pages.ts';
import type { TaskRow } from '../tasks/read.ts';
import { findActivity } from './activity.ts';
import { successRate } from './read.ts';

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
  const pattern = search ? containing(search.trim()) : null;
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
  const live = liveRuns(ctx);
  const [found, total] = await Promise.all([
    ctx.db
      .select({ user: fields, totalTasks: countTasks(), completed, failed, live: live.runs })
      .from(users)
      .leftJoin(live, eq(live.userId, users.id))
      .where(inArray(users.id, page))
      .orderBy(desc(users.id)),
    ctx.db.$count(users, matching),
  ]);
  return {
    users: found.map(({ user, totalTasks, completed, failed, live }) => ({
      ...user,
      stats: { totalTasks, totalExecutions: completed + failed + (live ?? 0) },
    })),
    pagination: { total, limit, offset, pages: Math.ceil(total / limit) },
  };
}

/** One account with its figures and the last 20 things that happened to it (specification "Admin", decisions §9). */
export async function getAccount(ctx: Context, id: number) {
  const live = liveRuns(ctx);
  const [[found], recentActivity] = await Promise.all([
    ctx.db
      .select({
        user: { ...fields, timezone: users.timezone, updatedAt: users.updatedAt },
        totalTasks: countTasks(),
        activeTasks: countTasks('active'),
        completed,
        failedExecutions: failed,
        live: live.runs,
      })
      .from(users)
      .leftJoin(live, eq(live.userId, users.id))
      .where(eq(users.id, id)),
    findActivity(ctx, id),
  ]);
  if (!found) return refuseUser();
  const { user, totalTasks, activeTasks, failedExecutions } = found;
  const totalExecutions = found.completed + failedExecutions + (found.live ?? 0);
  const rate = successRate(found.completed, failedExecutions);
  const stats = { totalTasks, activeTasks, totalExecutions, successRate: rate, failedExecutions };
  return { ...user, stats, recentActivity };
}

/** Drizzle would leave `users` out of the name in a query of one table, and the name would then be another's. */
const userId = sql.raw('"users"."id"');

const countTasks = (status?: TaskRow['status']) =>
  sql<number>`(select count(*)::int from tasks t where t.user_id = ${userId} ${status ? sql`and t.status = ${status}` : sql``})`;

/** Booked by the end of each run: there may be too many of them to be counted. */
const countEnded = (how: 'completed' | 'failed') =>
  sql<number>`(select coalesce(sum(${sql.identifier(how)}), 0)::int from usage_counters c
    where c.user_id = ${userId} and length(c.period) = 7)`;
const completed = countEnded('completed');
const failed = countEnded('failed');

/** What is still to end has an index that holds nothing else. */
const liveRuns = ({ db }: Context) =>
  db
    .select({ userId: executions.userId, runs: sql<number>`count(*)::int`.as('runs') })
    .from(executions)
    .where(inArray(executions.status, ['pending', 'running']))
    .groupBy(executions.userId)
    .as('live');

export const refuseUser = (): never => {
  throw new Refusal('not_found', 'There is no such user.');
};
