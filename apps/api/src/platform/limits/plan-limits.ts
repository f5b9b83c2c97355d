import { settings, toInstantOrNull, users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { accountDeleted } from '../../errors.ts';

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

export const planColumns = {
  plan: users.plan,
  role: users.role,
  maxTasksPerUser: settings.maxTasksPerUser,
  maxExecutionsPerDay: settings.maxExecutionsPerDay,
};

/** For a statement in which `u` is `users` and `s` is `settings`. */
export const planColumnsSql = sql.raw('u.plan, u.role, s.max_tasks_per_user, s.max_executions_per_day');

export type PlanRow = Pick<typeof users.$inferSelect, 'plan' | 'role'> &
  Pick<typeof settings.$inferSelect, 'maxTasksPerUser' | 'maxExecutionsPerDay'>;

export function getPlanLimits({ plan, role, maxTasksPerUser, maxExecutionsPerDay }: PlanRow): PlanLimits {
  const limits = PLANS[role === 'ADMIN' ? 'pro' : plan];
  return {
    ...limits,
    activeTasks: Math.min(limits.activeTasks, maxTasksPerUser),
    executionsPerDay: Math.min(limits.executionsPerDay, maxExecutionsPerDay),
  };
}

/** When the trial ends; null for the pro plan and for admins. */
export const getTrialEnd = ({
  plan,
  role,
  trialEndsAt,
}: Pick<PlanRow, 'plan' | 'role'> & { trialEndsAt: string | null }) =>
  plan === 'trial' && role !== 'ADMIN' ? toInstantOrNull(trialEndsAt) : null;

/** Locks the user, so that no two transactions take the same remaining item: count in a later statement. */
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
