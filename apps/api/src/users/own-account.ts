import { users } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { encryptProviderKey } from '../crypto/provider-key.ts';
import { accountDeleted } from '../errors.ts';
import { normalizeEmail } from '../mail/address.ts';
import { assertReachable } from '../webhooks/address.ts';
import { setAccountWebhook } from '../webhooks/managed-webhooks.ts';
import { admitEmailChange, followEmailChange, newEmail, refusingTakenEmail } from './change-email.ts';

/** What a user may change of the account; what is left out stays. */
export interface AccountChanges {
  name?: string;
  timezone?: string | null;
  email?: string;
  notificationPreferences?: { email?: boolean; webhook?: boolean };
  /** The user's own AI key in the clear; null removes it. */
  providerKey?: string | null;
  webhookUrl?: string | null;
  notificationEmails?: readonly string[];
}

/**
 * Changes what is given of the caller's own account, with all that follows, in one transaction. Refusals: 400 on `webhookUrl` that may not be reached; for another e-mail
 * address 409 where it is taken and 429 after several in an hour; 401 where the account is gone.
 */
export async function changeOwnAccount(ctx: Context, caller: Caller, changes: AccountChanges): Promise<OwnAccount> {
  const { name, timezone, email, notificationPreferences: preferences = {}, providerKey: key, webhookUrl } = changes;
  if (webhookUrl) assertReachable(ctx, 'webhookUrl', webhookUrl);
  if (email !== undefined) await admitEmailChange(ctx, caller, email);
  const isEmpty = Object.values(changes).every((value) => value === undefined);
  const changing = inTransaction(ctx, async (tx) => {
    // The account first, as wherever its webhook or a reset token is changed.
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
        ...newEmail(email),
        providerKeySealed: key ? encryptProviderKey(ctx, caller.id, key) : key,
        notifyEmail: preferences.email,
        notifyWebhook: preferences.webhook,
        notificationUrl: webhookUrl,
        notificationEmails: changes.notificationEmails && [...new Set(changes.notificationEmails.map(normalizeEmail))],
        updatedAt: isEmpty ? sql`${users.updatedAt}` : tx.now(),
      })
      .where(eq(users.id, caller.id))
      .returning(OWN);
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
  return refusingTakenEmail(changing);
}

const OWN = {
  id: users.id,
  name: users.name,
  email: users.email,
  timezone: users.timezone,
  notifyEmail: users.notifyEmail,
  notifyWebhook: users.notifyWebhook,
  notificationUrl: users.notificationUrl,
  updatedAt: users.updatedAt,
};
type OwnAccount = Pick<typeof users.$inferSelect, keyof typeof OWN>;
