import type { ChangeProfileInput, ChangeSettingsInput } from '@carillon/contract/accounts/user-settings';
import type { PatchUserInput } from '@carillon/contract/accounts/users';
import { normalizeEmail } from '@carillon/contract/validation/formats';
import { users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { encryptProviderKey } from '../crypto/provider-key.ts';
import { accountDeleted } from '../errors.ts';
import { requestConfirmations } from '../notifications/addresses.ts';
import { assertReachable } from '../webhooks/address.ts';
import { setAccountWebhook } from '../webhooks/managed-webhooks.ts';
import { type EmailProof, prepareEmailChange, startEmailChange } from './change-email.ts';
import { findPendingEmail, getUserSettings } from './read.ts';

/** Changes the caller's profile. Default for `proof`: `currentPassword`. Throws as `updateAccount`. */
export async function changeProfile(
  ctx: Context,
  caller: Caller,
  { encryptedProviderKey: providerKey, currentPassword, ...changes }: ChangeProfileInput & PatchUserInput,
  proof: EmailProof = { currentPassword },
) {
  const account = await updateAccount(ctx, caller, { ...changes, providerKey }, proof);
  const { id, name, email, timezone, notifyEmail, notifyWebhook, updatedAt } = account;
  const notificationPreferences = { email: notifyEmail, webhook: notifyWebhook };
  const pendingEmail = await findPendingEmail(ctx, caller);
  return { id, name, email, pendingEmail, timezone, notificationPreferences, updatedAt };
}

/** Changes the caller's settings and returns all of them. Throws as `updateAccount`. */
export async function changeUserSettings(
  ctx: Context,
  caller: Caller,
  { modelRouterApiKey: providerKey, currentPassword, ...changes }: ChangeSettingsInput,
) {
  await updateAccount(ctx, caller, { ...changes, providerKey }, { currentPassword });
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
 * Changes the caller's account and all that depends on it in one transaction. Another e-mail address counts once its
 * link is opened. Throws 400 for a `webhookUrl` that egress forbids, 401 if the account was deleted, and as
 * `prepareEmailChange` and `startEmailChange`.
 */
async function updateAccount(
  ctx: Context,
  caller: Caller,
  changes: AccountChanges,
  proof: EmailProof,
): Promise<OwnAccount> {
  const { name, timezone, email, notificationPreferences: preferences = {}, providerKey: key, webhookUrl } = changes;
  if (webhookUrl) assertReachable(ctx, 'webhookUrl', webhookUrl);
  const emailChange = email === undefined ? null : await prepareEmailChange(ctx, caller, email, proof);
  const isEmpty = Object.values(changes).every((value) => value === undefined);
  return inTransaction(ctx, async (tx) => {
    // Locks the account first, as every change of its webhook or its reset tokens does.
    const [before] = await tx.db
      .select({ id: users.id, email: users.email, passwordHash: users.passwordHash })
      .from(users)
      .where(eq(users.id, caller.id))
      .for('no key update');
    const [account] = await tx.db
      .update(users)
      .set({
        name,
        timezone,
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
    if (emailChange) await startEmailChange(tx, before, emailChange);
    // The account's own address gets the notifications anyway.
    const others = changes.notificationEmails?.filter((address) => normalizeEmail(address) !== account.email);
    await requestConfirmations(tx, caller.id, others ?? []);
    if (webhookUrl !== undefined || preferences.webhook !== undefined) {
      const { notificationUrl: url, notifyWebhook: isActive } = account;
      await setAccountWebhook(tx, { userId: caller.id, url, isActive });
    }
    return account;
  });
}
