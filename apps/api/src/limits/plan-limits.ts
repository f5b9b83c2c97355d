import { settings, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { accountDeleted } from '../errors.ts';

/** What a user may use: the limits of the plan and the system settings, whichever is smaller. */
export interface PlanLimits {
  executionsPerDay: number;
  executionsPerMonth: number;
  tokensPerDay: number;
  tokensPerMonth: number;
  activeTasks: number;
  webhooks: number;
  uploadBytes: number;
}

const MIB = 1024 * 1024;

const PLANS: Record<'trial' | 'pro', PlanLimits> = {
  trial: {
    executionsPerDay: 50,
    executionsPerMonth: 500,
    tokensPerDay: 100_000,
    tokensPerMonth: 1_000_000,
    activeTasks: 10,
    webhooks: 3,
    uploadBytes: 100 * MIB,
  },
  pro: {
    executionsPerDay: 500,
    executionsPerMonth: 10_000,
    tokensPerDay: 1_000_000,
    tokensPerMonth: 20_000_000,
    activeTasks: 100,
    webhooks: 20,
    uploadBytes: 10 * 1024 * MIB,
  },
};

/** The columns that decide a user's limits, for a query on `users` and `settings`. */
export const planColumns = {
  plan: users.plan,
  role: users.role,
  maxTasksPerUser: settings.maxTasksPerUser,
  maxExecutionsPerDay: settings.maxExecutionsPerDay,
};

/** The same columns for a statement in which `u` is `users` and `s` is `settings`. */
export const planColumnsSql = sql.raw('u.plan, u.role, s.max_tasks_per_user, s.max_executions_per_day');

export type PlanRow = Pick<typeof users.$inferSelect, 'plan' | 'role'> &
  Pick<typeof settings.$inferSelect, 'maxTasksPerUser' | 'maxExecutionsPerDay'>;

/** The limits in force for a user; admins have those of the pro plan. */
export function getPlanLimits({ plan, role, maxTasksPerUser, maxExecutionsPerDay }: PlanRow): PlanLimits {
  const limits = PLANS[role === 'ADMIN' ? 'pro' : plan];
  return {
    ...limits,
    activeTasks: Math.min(limits.activeTasks, maxTasksPerUser),
    executionsPerDay: Math.min(limits.executionsPerDay, maxExecutionsPerDay),
  };
}

/**
 * Locks the user's row until the transaction ends, so that no two transactions take the same remaining item, and returns
 * the limits in force with the default model. Count what is used in a later statement: it sees what others committed.
 */
export async function lockPlanLimits(ctx: Pick<Context, 'db'>, userId: number) {
  const [row] = await ctx.db
    .select({ ...planColumns, defaultModel: settings.defaultModel })
    .from(users)
    .crossJoin(settings)
    .where(eq(users.id, userId))
    .for('no key update', { of: users });
  if (!row) throw accountDeleted();
  return { limits: getPlanLimits(row), defaultModel: row.defaultModel };
}
