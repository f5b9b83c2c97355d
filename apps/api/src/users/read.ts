import { users, webhooks } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { accountDeleted } from '../errors.ts';
import { executionStats, successRate, taskStats } from '../stats/user-counts.ts';

/** The caller's account with its counts. */
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

/** The caller's own settings; of the AI key only whether there is one. */
export async function getUserSettings(ctx: Context, caller: Caller) {
  const [settings] = await ctx.db
    .select({
      email: users.email,
      notificationPreferences: { email: users.notifyEmail, webhook: users.notifyWebhook },
      webhookUrl: users.notificationUrl,
      webhookId: webhooks.id,
      notificationEmails: users.notificationEmails,
      hasModelRouterApiKey: sql<boolean>`${users.providerKeySealed} is not null`,
    })
    .from(users)
    .leftJoin(webhooks, and(eq(webhooks.userId, users.id), eq(webhooks.purpose, 'account')))
    .where(eq(users.id, caller.id));
  if (!settings) throw accountDeleted();
  return settings;
}
