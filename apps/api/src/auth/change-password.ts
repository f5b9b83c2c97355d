import { passwordResets, users } from '@carillon/db';
import { and, eq, isNull } from 'drizzle-orm';
import { recordAudit } from '../audit/record.ts';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { AppError, accountDeleted, invalidField } from '../errors.ts';
import { userKey } from '../limits/keys.ts';
import { PASSWORD_ATTEMPTS } from '../limits/rates.ts';
import { assertRateLimit } from '../limits/windows.ts';
import { queueMail } from '../mail/queue.ts';
import { hashPassword, isSamePassword, verifyPassword } from './passwords.ts';
import { endUserSessions } from './sessions.ts';

/** Throws 429 after 5 attempts in 15 minutes, so that a stolen session cannot guess the password. */
export async function changePassword(
  ctx: Context,
  caller: Caller,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
): Promise<void> {
  if (isSamePassword(currentPassword, newPassword)) {
    throw invalidField('newPassword', 'must differ from the current one');
  }
  const [known] = await ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, caller.id));
  if (!known) throw accountDeleted();
  if (known.passwordHash === null) throw withoutPassword();
  // Counted before the password is verified, because attempts may be concurrent.
  await assertRateLimit(ctx, PASSWORD_ATTEMPTS, userKey(PASSWORD_ATTEMPTS, caller.id));
  if (!(await verifyPassword(known.passwordHash, currentPassword))) throw wrongPassword();
  // Outside of the transaction, which holds locks, because hashing is slow.
  const passwordHash = await hashPassword(newPassword);

  await inTransaction(ctx, async (tx) => {
    // Signing in locks the account first: a concurrent one ends before or sees the new hash.
    const [account] = await tx.db
      .select({ email: users.email, isActive: users.isActive, passwordHash: users.passwordHash })
      .from(users)
      .where(eq(users.id, caller.id))
      .for('no key update');
    if (!account?.isActive) throw accountDeleted();
    // A concurrent sign-in may have rehashed the same password.
    const isKnown = account.passwordHash === known.passwordHash;
    if (!isKnown && !(await verifyPassword(account.passwordHash, currentPassword))) throw wrongPassword();

    const now = tx.now();
    await tx.db.update(users).set({ passwordHash, updatedAt: now }).where(eq(users.id, caller.id));
    await tx.db
      .update(passwordResets)
      .set({ usedAt: now })
      .where(and(eq(passwordResets.userId, caller.id), isNull(passwordResets.usedAt)));
    await endUserSessions(tx, caller.id, { except: caller.sessionId });
    const { id: userId } = caller;
    const { email } = account;
    await recordAudit(tx, { kind: 'user.password_changed', actorId: userId, actorEmail: email, userId });
    await queueMail(tx, { to: email, userId, subject: 'Your password was changed', text: CHANGED_TEXT });
  });
}

const wrongPassword = () => invalidField('currentPassword', 'is wrong');

const withoutPassword = () =>
  new AppError('conflict', 'This account has no password yet. Ask for a link by mail to choose one.');

const CHANGED_TEXT = `Hello,

the password of your Carillon account was changed, and all sessions but the one that changed it were ended.

If it was not you, ask for a new password at once: that ends all sessions.
`;
