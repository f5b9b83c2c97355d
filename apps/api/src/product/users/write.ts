import type { ChangeProfileInput, ChangeSettingsInput } from '@carillon/contract/accounts/user-settings';
import type { PatchUserInput } from '@carillon/contract/accounts/users';
import type { Language } from '@carillon/contract/primitives';
import { normalizeEmail } from '@carillon/contract/validation/formats';
import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { accountDeleted } from '../../errors.ts';
import { encryptProviderKey } from '../../lib/crypto/encryption.ts';
import { assertRevision, type ExpectedRevisions } from '../../platform/queries/revision.ts';
import { inTransaction } from '../../transaction.ts';
import { lockAccountChannels, setAccountChannels } from '../deliveries/channels/account-channels.ts';
import { assertReachable, setAccountWebhook } from '../deliveries/webhooks/managed-webhooks.ts';
import { requestConfirmations } from '../notifications/addresses.ts';
import { type EmailProof, prepareEmailChange, startEmailChange } from './change-email.ts';
import { getProfile, getUserSettings } from './read.ts';

interface ChangeOptions {
  /** Default: `currentPassword` of the change. */
  proof?: EmailProof;
  expected?: ExpectedRevisions;
}

/** Changes the caller's profile; `profile` is what a GET shows then. Throws as `updateAccount`. */
export async function changeProfile(
  ctx: Context,
  caller: Caller,
  {
    encryptedProviderKey: providerKey,
    currentPassword,
    ...changes
  }: ChangeProfileInput & PatchUserInput & { language?: Language },
  { proof = { currentPassword }, expected = null }: ChangeOptions = {},
) {
  const account = await updateAccount(ctx, caller, { ...changes, providerKey }, { proof, expected });
  const { id, name, email, timezone, notifyEmail, notifyWebhook, revision, updatedAt } = account;
  const notificationPreferences = { email: notifyEmail, webhook: notifyWebhook };
  const { user: profile } = await getProfile(ctx, caller);
  const { pendingEmail } = profile;
  return { user: { id, name, email, pendingEmail, timezone, notificationPreferences, updatedAt }, revision, profile };
}

/** Changes the caller's settings and returns all of them, as `getUserSettings`. Throws as `updateAccount`. */
export async function changeUserSettings(
  ctx: Context,
  caller: Caller,
  { modelRouterApiKey: providerKey, currentPassword, ...changes }: ChangeSettingsInput,
  expected: ExpectedRevisions = null,
) {
  await updateAccount(ctx, caller, { ...changes, providerKey }, { proof: { currentPassword }, expected });
  return getUserSettings(ctx, caller);
}

/** Fields that are left out stay as they are. */
interface AccountChanges {
  name?: string;
  timezone?: string | null;
  email?: string;
  language?: Language;
  notificationPreferences?: { email?: boolean; webhook?: boolean };
  /** The user's own AI key, not encrypted; null removes it. */
  providerKey?: string | null;
  webhookUrl?: string | null;
  notificationEmails?: readonly string[];
  channels?: readonly string[];
}

const accountColumns = {
  id: users.id,
  name: users.name,
  email: users.email,
  language: users.language,
  timezone: users.timezone,
  notifyEmail: users.notifyEmail,
  notifyWebhook: users.notifyWebhook,
  notificationUrl: users.notificationUrl,
  revision: users.revision,
  updatedAt: users.updatedAt,
};
type OwnAccount = Pick<typeof users.$inferSelect, keyof typeof accountColumns>;

/**
 * Changes the caller's account and all that depends on it in one transaction. Another e-mail address counts once its
 * link is opened. Throws 400 for a `webhookUrl` that egress forbids or an
 * unknown channel, 401 if the account was deleted, 412, and as
 * `prepareEmailChange` and `startEmailChange`.
 */
async function updateAccount(
  ctx: Context,
  caller: Caller,
  changes: AccountChanges,
  { proof, expected }: Required<ChangeOptions>,
): Promise<OwnAccount> {
  const { name, timezone, email, notificationPreferences: preferences = {}, providerKey: key, webhookUrl } = changes;
  if (webhookUrl) assertReachable(ctx, 'webhookUrl', webhookUrl);
  const emailChange = email === undefined ? null : await prepareEmailChange(ctx, caller, email, proof);
  const isEmpty = Object.values(changes).every((value) => value === undefined);
  return inTransaction(ctx, async (tx) => {
    // Channels before the account, as tasks that are saved with channels do.
    const channels = changes.channels && (await lockAccountChannels(tx, caller, changes.channels));
    // Locks the account first, as every change of its webhook or its reset tokens does.
    const [before] = await tx.db
      .select({ ...accountColumns, passwordHash: users.passwordHash })
      .from(users)
      .where(eq(users.id, caller.id))
      .for('no key update');
    if (!before) throw accountDeleted();
    assertRevision(before, expected);
    if (isEmpty) return before;
    const [account] = await tx.db
      .update(users)
      .set({
        name,
        timezone,
        language: changes.language,
        providerKeyEncrypted: key ? encryptProviderKey(ctx, caller.id, key) : key,
        notifyEmail: preferences.email,
        notifyWebhook: preferences.webhook,
        notificationUrl: webhookUrl,
        notificationEmails: changes.notificationEmails && [...new Set(changes.notificationEmails.map(normalizeEmail))],
        updatedAt: tx.now(),
      })
      .where(eq(users.id, caller.id))
      .returning(accountColumns);
    if (!account) throw accountDeleted();
    if (channels) await setAccountChannels(tx, caller, channels);
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
