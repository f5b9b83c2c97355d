import { emailChanges, users, webhooks } from '@carillon/db';
import { and, eq, gt, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { accountDeleted } from '../errors.ts';
import { listUnconfirmed } from '../notifications/addresses.ts';
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
        pendingEmail: emailChanges.email,
      },
      ...taskStats,
      ...executionStats,
    })
    .from(users)
    .leftJoin(emailChanges, isPending(ctx))
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
      pendingEmail: emailChanges.email,
      notificationPreferences: { email: users.notifyEmail, webhook: users.notifyWebhook },
      webhookUrl: users.notificationUrl,
      webhookId: webhooks.id,
      notificationEmails: users.notificationEmails,
      hasModelRouterApiKey: sql<boolean>`${users.providerKeySealed} is not null`,
    })
    .from(users)
    .leftJoin(emailChanges, isPending(ctx))
    .leftJoin(webhooks, and(eq(webhooks.userId, users.id), eq(webhooks.purpose, 'account')))
    .where(eq(users.id, caller.id));
  if (!settings) throw accountDeleted();
  return { ...settings, unconfirmedEmails: await listUnconfirmed(ctx, caller.id) };
}

/** The new address of the account until it is confirmed; null if there is none. */
export async function findPendingEmail(ctx: Context, caller: Caller): Promise<string | null> {
  const [row] = await ctx.db
    .select({ pendingEmail: emailChanges.email })
    .from(users)
    .innerJoin(emailChanges, isPending(ctx))
    .where(eq(users.id, caller.id));
  return row?.pendingEmail ?? null;
}

const isPending = ({ now }: Context) => and(eq(emailChanges.userId, users.id), gt(emailChanges.expiresAt, now()));
