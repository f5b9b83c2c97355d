import { tasks } from '@carillon/db';
import { and, eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { lockPlanLimits } from '../../platform/limits/plan-limits.ts';
import { quotaExceededError } from '../../platform/limits/quotas.ts';

/** Throws 402 over quota. The user's row stays locked, so that no other transaction passes. */
export async function reserveActiveTask(ctx: Context, caller: Caller): Promise<{ defaultModel: string }> {
  const { limits, defaultModel } = await lockPlanLimits(ctx, caller.id);
  const limit = limits.activeTasks;
  const used = await ctx.db.$count(tasks, and(eq(tasks.userId, caller.id), eq(tasks.status, 'active')));
  if (used >= limit) throw quotaExceededError({ resource: 'activeTasks', used, limit, resetAt: null });
  return { defaultModel };
}
