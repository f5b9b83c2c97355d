import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { accountDeleted, invalidField } from '../../errors.ts';
import { PASSWORD_ATTEMPTS, userKey } from '../../platform/limits/rates.ts';
import { assertRateLimit } from '../../platform/limits/windows.ts';
import { verifyPassword } from './passwords.ts';

/** Throws 400 if the locked account has another password by now. */
export type AssertSamePassword = (passwordHash: string | null) => Promise<void>;

/**
 * Verifies the password of the caller's account. Returns null if the account has none. Throws 400 on `field`,
 * and 429 after 5 attempts in 15 minutes, so that a stolen session cannot guess the password.
 */
export async function verifyCurrentPassword(
  ctx: Context,
  caller: Caller,
  currentPassword: string | undefined,
  field = 'currentPassword',
): Promise<AssertSamePassword | null> {
  const [known] = await ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, caller.id));
  if (!known) throw accountDeleted();
  if (known.passwordHash === null) return null;
  if (currentPassword === undefined) throw invalidField(field, 'is required');
  // Counted before the password is verified, because attempts may be concurrent.
  await assertRateLimit(ctx, PASSWORD_ATTEMPTS, userKey(PASSWORD_ATTEMPTS, caller.id));
  const assertRight = async (passwordHash: string | null) => {
    if (!(await verifyPassword(passwordHash, currentPassword))) throw invalidField(field, 'is wrong');
  };
  await assertRight(known.passwordHash);
  // A concurrent sign-in may have rehashed the same password.
  return async (passwordHash) => {
    if (passwordHash !== known.passwordHash) await assertRight(passwordHash);
  };
}
