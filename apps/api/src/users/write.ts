import type { ChangeProfileInput } from '@carillon/contract/user-settings';
import type { PatchUserInput } from '@carillon/contract/users';
import type { Caller, Context } from '../context.ts';
import { changeOwnAccount } from './own-account.ts';

/**
 * Changes what is given of the caller's own profile, with all that follows from another e-mail address (specification
 * "Current user", "Server actions"); the AI key is sealed at rest. Refusals as of `changeOwnAccount`.
 */
export async function changeProfile(
  ctx: Context,
  caller: Caller,
  { encryptedProviderKey: providerKey, ...changes }: ChangeProfileInput & PatchUserInput,
) {
  const account = await changeOwnAccount(ctx, caller, { ...changes, providerKey });
  const { id, name, email, timezone, notifyEmail, notifyWebhook, updatedAt } = account;
  const notificationPreferences = { email: notifyEmail, webhook: notifyWebhook };
  return { id, name, email, timezone, notificationPreferences, updatedAt };
}
