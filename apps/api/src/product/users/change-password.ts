import { passwordResets, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq, isNull } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, accountDeleted, invalidField } from '../../errors.ts';
import { queueMail } from '../../lib/mail/queue.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { inTransaction } from '../../transaction.ts';
import { verifyCurrentPassword } from '../auth/current-password.ts';
import { hashPassword, isSamePassword } from '../auth/passwords.ts';
import { endUserSessions, getSessionId } from '../auth/sessions.ts';
import { cancelEmailChange } from '../auth/write.ts';

/**
 * `store` runs in the transaction of the change. Throws like `verifyCurrentPassword`, and 409 for an account without a
 * password.
 */
export async function changePassword(
  ctx: Context,
  caller: Caller,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
  store: (tx: Context) => Promise<void> = async () => {},
): Promise<void> {
  if (isSamePassword(currentPassword, newPassword)) {
    throw invalidField('newPassword', 'must differ from the current one');
  }
  const assertSamePassword = await verifyCurrentPassword(ctx, caller, currentPassword);
  if (!assertSamePassword) throw withoutPassword();
  // Outside of the transaction, which holds locks, because hashing is slow.
  const passwordHash = await hashPassword(newPassword);

  await inTransaction(ctx, async (tx) => {
    // Signing in locks the account first: a concurrent one ends before or sees the new hash.
    const [account] = await tx.db
      .select({
        email: users.email,
        language: users.language,
        isActive: users.isActive,
        passwordHash: users.passwordHash,
      })
      .from(users)
      .where(eq(users.id, caller.id))
      .for('no key update');
    if (!account?.isActive) throw accountDeleted();
    await assertSamePassword(account.passwordHash);

    const now = tx.now();
    await tx.db.update(users).set({ passwordHash, updatedAt: now }).where(eq(users.id, caller.id));
    await tx.db
      .update(passwordResets)
      .set({ usedAt: now })
      .where(and(eq(passwordResets.userId, caller.id), isNull(passwordResets.usedAt)));
    await cancelEmailChange(tx, caller.id);
    await endUserSessions(tx, caller.id, { except: getSessionId(caller) });
    const { id: userId } = caller;
    const { email, language } = account;
    await recordAudit(tx, { kind: 'user.password_changed', ...describeActor({ id: userId, email }) });
    await queueMail(tx, { to: email, userId, ...getTexts(language).mails.passwordChanged() });
    await store(tx);
  });
}

const withoutPassword = () =>
  new AppError('conflict', 'This account has no password yet. Ask for a link by mail to choose one.');
