import { executions, tasks, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { Refusal } from '../errors.ts';

/** The caller's account with its figures (specification "User"), in one statement. */
export async function getProfile(ctx: Context, caller: Caller) {
  const ofTasks = ctx.db
    .select({
      totalTasks: sql<number>`count(*)::int`.as('total_tasks'),
      activeTasks: sql<number>`count(*) filter (where ${tasks.status} = 'active')::int`.as('active_tasks'),
    })
    .from(tasks)
    .where(eq(tasks.userId, caller.id))
    .as('of_tasks');
  const ofExecutions = ctx.db
    .select({
      totalExecutions: sql<number>`count(*)::int`.as('total_executions'),
      completed: sql<number>`count(*) filter (where ${executions.status} = 'completed')::int`.as('completed'),
      failed: sql<number>`count(*) filter (where ${executions.status} = 'failed')::int`.as('failed'),
    })
    .from(executions)
    .where(eq(executions.userId, caller.id))
    .as('of_executions');
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
      totalTasks: ofTasks.totalTasks,
      activeTasks: ofTasks.activeTasks,
      totalExecutions: ofExecutions.totalExecutions,
      completed: ofExecutions.completed,
      failed: ofExecutions.failed,
    })
    .from(users)
    .crossJoin(ofTasks)
    .crossJoin(ofExecutions)
    .where(eq(users.id, caller.id));
  // The account was deleted since its session was found.
  if (!row) throw new Refusal('unauthenticated', 'This account is gone.');
  const { user, completed, failed, ...stats } = row;
  return { ...user, stats: { ...stats, successRate: successRate(completed, failed) } };
}

/** Completed over completed and failed, in percent with two decimals; 0 when nothing ran (decisions §9). */
export function successRate(completed: number, failed: number): number {
  const ended = completed + failed;
  return ended === 0 ? 0 : Math.round((completed / ended) * 10_000) / 100;
}
