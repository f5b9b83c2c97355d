import type { ChangeSettingsInput } from '@carillon/contract/user-settings';
import { users, webhooks } from '@carillon/db';
import { and, eq, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { accountDeleted } from '../errors.ts';
import { changeOwnAccount } from './own-account.ts';

/** What the caller has set for the account; of the AI key only whether there is one. */
export async function getSettings(ctx: Context, caller: Caller) {
  const [found] = await ctx.db
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
  if (!found) throw accountDeleted();
  return found;
}

/**
 * Changes what is given of the caller's settings and returns all of them (specification "Server actions",
 * `updateSettings`). Refusals as of `changeOwnAccount`.
 */
export async function changeSettings(
  ctx: Context,
  caller: Caller,
  { modelRouterApiKey: providerKey, ...changes }: ChangeSettingsInput,
) {
  await changeOwnAccount(ctx, caller, { ...changes, providerKey });
  return getSettings(ctx, caller);
}
