import type { ChangeProfileInput, ChangeSettingsInput } from '@carillon/contract/accounts/user-settings';
import type { PatchUserInput } from '@carillon/contract/accounts/users';
import { normalizeEmail } from '@carillon/contract/validation/formats';
import { users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { encryptProviderKey } from '../crypto/provider-key.ts';
import { accountDeleted } from '../errors.ts';
import { assertReachable } from '../webhooks/address.ts';
import { setAccountWebhook } from '../webhooks/managed-webhooks.ts';
import { assertEmailChange, emailColumns, followEmailChange, rejectTakenEmail } from './change-email.ts';
import { getUserSettings } from './read.ts';

/** Changes the caller's profile. Throws as `updateAccount`. */
export async function changeProfile(
  ctx: Context,
  caller: Caller,
  { encryptedProviderKey: providerKey, ...changes }: ChangeProfileInput & PatchUserInput,
) {
  const account = await updateAccount(ctx, caller, { ...changes, providerKey });
  const { id, name, email, timezone, notifyEmail, notifyWebhook, updatedAt } = account;
  const notificationPreferences = { email: notifyEmail, webhook: notifyWebhook };
  return { id, name, email, timezone, notificationPreferences, updatedAt };
}

/** Changes the caller's settings and returns all of them. Throws as `updateAccount`. */
export async function changeUserSettings(
  ctx: Context,
  caller: Caller,
  { modelRouterApiKey: providerKey, ...changes }: ChangeSettingsInput,
) {
  await updateAccount(ctx, caller, { ...changes, providerKey });
  return getUserSettings(ctx, caller);
}

/** Fields that are left out stay as they are. */
interface AccountChanges {
  name?: string;
  timezone?: string | null;
  email?: string;
  notificationPreferences?: { email?: boolean; webhook?: boolean };
  /** The user's own AI key, not encrypted; null removes it. */
  providerKey?: string | null;
  webhookUrl?: string | null;
  notificationEmails?: readonly string[];
}

const accountColumns = {
  id: users.id,
  name: users.name,
  email: users.email,
  timezone: users.timezone,
  notifyEmail: users.notifyEmail,
  notifyWebhook: users.notifyWebhook,
  notificationUrl: users.notificationUrl,
  updatedAt: users.updatedAt,
};
type OwnAccount = Pick<typeof users.$inferSelect, keyof typeof accountColumns>;

/**
 * Changes the caller's account and all that depends on it in one transaction. Throws 400 for a `webhookUrl` that egress
 * forbids, 401 if the account was deleted, and for another e-mail address 409 if it is taken and 429 after several in an
 * hour.
 */
async function updateAccount(ctx: Context, caller: Caller, changes: AccountChanges): Promise<OwnAccount> {
  const { name, timezone, email, notificationPreferences: preferences = {}, providerKey: key, webhookUrl } = changes;
  if (webhookUrl) assertReachable(ctx, 'webhookUrl', webhookUrl);
  if (email !== undefined) await assertEmailChange(ctx, caller, email);
  const isEmpty = Object.values(changes).every((value) => value === undefined);
  const changing = inTransaction(ctx, async (tx) => {
    // Locks the account first, as every change of its webhook or its reset tokens does.
    const [before] = await tx.db
      .select({ email: users.email })
      .from(users)
      .where(eq(users.id, caller.id))
      .for('no key update');
    const [account] = await tx.db
      .update(users)
      .set({
        name,
        timezone,
        ...emailColumns(email),
        providerKeySealed: key ? encryptProviderKey(ctx, caller.id, key) : key,
        notifyEmail: preferences.email,
        notifyWebhook: preferences.webhook,
        notificationUrl: webhookUrl,
        notificationEmails: changes.notificationEmails && [...new Set(changes.notificationEmails.map(normalizeEmail))],
        updatedAt: isEmpty ? sql`${users.updatedAt}` : tx.now(),
      })
      .where(eq(users.id, caller.id))
      .returning(accountColumns);
    if (!before || !account) throw accountDeleted();
    if (account.email !== before.email) {
      await followEmailChange(tx, { userId: caller.id, before: before.email, after: account.email });
    }
    if (webhookUrl !== undefined || preferences.webhook !== undefined) {
      const { notificationUrl: url, notifyWebhook: isActive } = account;
      await setAccountWebhook(tx, { userId: caller.id, url, isActive });
    }
    return account;
  });
  return rejectTakenEmail(changing);
}
