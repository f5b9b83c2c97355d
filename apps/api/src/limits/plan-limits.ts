/** What a user may use, from the specification's "Quotas" and the system settings, whichever is smaller. */
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

/** The limits in force for a user; admins have those of the pro plan (decisions §9). */
export function getPlanLimits(
  user: { plan: 'trial' | 'pro'; role: 'USER' | 'ADMIN' },
  settings: { maxTasksPerUser: number; maxExecutionsPerDay: number },
): PlanLimits {
  const plan = PLANS[user.role === 'ADMIN' ? 'pro' : user.plan];
  return {
    ...plan,
    activeTasks: Math.min(plan.activeTasks, settings.maxTasksPerUser),
    executionsPerDay: Math.min(plan.executionsPerDay, settings.maxExecutionsPerDay),
  };
}
