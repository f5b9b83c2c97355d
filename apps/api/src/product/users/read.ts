import type { ChannelChoice } from '@carillon/contract/channels/choices';
import { emailChanges, endpoints, toInstantOrNull, users } from '@carillon/db';
import { and, eq, gt, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { accountDeleted } from '../../errors.ts';
import { selectChannelChoices } from '../../platform/queries/channel-choices.ts';
import { executionStats, successRate, taskStats } from '../../platform/queries/user-counts.ts';
import { selectFeedDate } from '../deliveries/feeds/read.ts';
import { selectUnconfirmed } from '../notifications/addresses.ts';

/** The caller's account with its counts, and its revision. */
export async function getProfile(ctx: Context, caller: Caller) {
  const [row] = await ctx.db
    .select({
      revision: users.revision,
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
  const { revision, user, totalTasks, activeTasks, completed, failed, live } = row;
  const totalExecutions = completed + failed + live;
  const stats = { totalTasks, activeTasks, totalExecutions, successRate: successRate(completed, failed) };
  return { revision, user: { ...user, stats } };
}

/** The caller's own settings, and the revision of the account; of the AI key only whether there is one. */
export async function getUserSettings(ctx: Context, caller: Caller) {
  const { revision, settings } = await readSettings(ctx, caller);
  const { hasPassword, trialEndsAt, hasTrials, channelChoices, feedCreatedAt, ...shown } = settings;
  return { revision, settings: shown };
}

/** The same, with what a page of settings needs besides. */
export async function getSettingsPage(ctx: Context, caller: Caller) {
  const { settings } = await readSettings(ctx, caller);
  const { feedCreatedAt, ...rest } = settings;
  return { ...rest, feedCreatedAt: toInstantOrNull(feedCreatedAt) };
}

async function readSettings(ctx: Context, caller: Caller) {
  const [row] = await ctx.db
    .select({
      revision: users.revision,
      email: users.email,
      pendingEmail: emailChanges.email,
      language: users.language,
      notificationPreferences: { email: users.notifyEmail, webhook: users.notifyWebhook },
      webhookUrl: users.notificationUrl,
      webhookId: endpoints.id,
      channels: sql<string[]>`array(select c.id from endpoints c
        where c.user_id = "users"."id" and c.is_for_account order by c.created_at, c.id)`,
      channelChoices: sql<ChannelChoice[]>`${selectChannelChoices(sql`"users"."id"`)}`,
      feedCreatedAt: selectFeedDate(sql`f.user_id = "users"."id" and f.task_id is null`, ctx.now()),
      notificationEmails: users.notificationEmails,
      hasModelRouterApiKey: sql<boolean>`${users.providerKeyEncrypted} is not null`,
      hasPassword: sql<boolean>`${users.passwordHash} is not null`,
      trialEndsAt: users.trialEndsAt,
      hasTrials,
      unconfirmedEmails: selectUnconfirmed(users.id),
    })
    .from(users)
    .leftJoin(emailChanges, isPending(ctx))
    .leftJoin(endpoints, and(eq(endpoints.userId, users.id), eq(endpoints.purpose, 'account')))
    .where(eq(users.id, caller.id));
  if (!row) throw accountDeleted();
  const { revision, ...settings } = row;
  return { revision, settings };
}

/**
 * Whether anybody is given or sold a trial: there is a coupon, or an account whose trial does not end as at its registration,
 * because an administrator or a coupon has moved its end.
 */
const hasTrials = sql<boolean>`(exists (select from coupons) or exists (
  select from users u, settings s
  where u.trial_ends_at not between u.created_at + make_interval(hours => 24 * s.trial_duration_days) - interval '1 hour'
    and u.created_at + make_interval(hours => 24 * s.trial_duration_days) + interval '1 hour'))`;

const isPending = ({ now }: Context) => and(eq(emailChanges.userId, users.id), gt(emailChanges.expiresAt, now()));
