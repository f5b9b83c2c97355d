import { settings, tasks, users } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { getPlanLimits } from '../limits/plan-limits.ts';
import { quotaExceededError } from '../limits/quotas.ts';

/**
 * Makes sure that one more active task fits the caller's quota (402), and that no other transaction takes the same
 * place: the user's row stays locked until this one ends. Returns what the caller's plan and the settings say.
 */
export async function reserveActiveTask(ctx: Context, caller: Caller) {
  const [state] = await ctx.db
    .select({
      plan: users.plan,
      role: users.role,
      maxTasksPerUser: settings.maxTasksPerUser,
      maxExecutionsPerDay: settings.maxExecutionsPerDay,
      defaultModel: settings.defaultModel,
    })
    .from(users)
    .crossJoin(settings)
    .where(eq(users.id, caller.id))
    .for('no key update', { of: users });
  if (!state) throw new AppError('unauthenticated', 'This account does not exist any more.');
  // A statement of its own, begun after the lock was had: it sees what others have committed.
  const used = await ctx.db.$count(tasks, and(eq(tasks.userId, caller.id), eq(tasks.status, 'active')));
  const limit = getPlanLimits(state, state).activeTasks;
  if (used >= limit) throw quotaExceededError({ resource: 'activeTasks', used, limit, resetAt: null });
  return state;
}
