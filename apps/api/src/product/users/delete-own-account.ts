import type { DeleteUserInput } from '@carillon/contract/accounts/users';
import { normalizeEmail } from '@carillon/contract/validation/formats';
import { sessions, users } from '@carillon/db';
import { and, eq, gt } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, ERROR_MESSAGES, invalidField } from '../../errors.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { assertRevision, type ExpectedRevisions } from '../../platform/queries/revision.ts';
import { inTransaction } from '../../transaction.ts';
import { verifyCurrentPassword } from '../auth/current-password.ts';
import { getSessionId } from '../auth/sessions.ts';
import { lockUserTasks } from '../tasks/suspend.ts';
import { lockAccount } from './admin/lock-account.ts';
import { deleteAccountData } from './delete-account-data.ts';

const RECENT_SIGN_IN_MS = 15 * 60 * 1000;

/**
 * Deletes the caller's account with all its data. Throws as `verifyCurrentPassword`, for an account without a password as
 * `assertRecentSignIn`, 412, and 409 for the last active admin.
 */
export async function deleteOwnAccount(
  ctx: Context,
  caller: Caller,
  input: DeleteUserInput,
  expected: ExpectedRevisions = null,
): Promise<void> {
  const assertSamePassword = await verifyCurrentPassword(ctx, caller, input.currentPassword);
  if (!assertSamePassword) await assertRecentSignIn(ctx, caller, input.email);
  const running = await inTransaction(ctx, async (tx) => {
    await lockUserTasks(tx, caller.id, 'update');
    if (caller.role === 'ADMIN') await lockAccount(tx, caller, caller.id, { removesAdmin: true });
    const [account] = await tx.db.select().from(users).where(eq(users.id, caller.id)).for('update');
    // Deactivation and another role end all sessions, this one too.
    if (!account?.isActive || account.role !== caller.role) {
      throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
    }
    await assertSamePassword?.(account.passwordHash);
    assertRevision(account, expected);
    const aborted = await deleteAccountData(tx, account);
    // Without the e-mail and IP address, which are data of the account.
    const actor = describeActor({ id: caller.id, email: null });
    await recordAudit({ ...tx, origin: undefined }, { kind: 'user.deleted', ...actor });
    return aborted;
  });
  ctx.worker.abort(running);
}

/** Throws 400 unless `email` is the address of the account, and 403 for a session older than 15 minutes. */
async function assertRecentSignIn(ctx: Context, caller: Caller, email: string | undefined): Promise<void> {
  if (email === undefined) throw invalidField('email', 'is required');
  if (normalizeEmail(email) !== caller.email) throw invalidField('email', 'is not the address of this account');
  const since = new Date(ctx.now().getTime() - RECENT_SIGN_IN_MS);
  const [recent] = await ctx.db
    .select({ id: sessions.id })
    .from(sessions)
    .where(and(eq(sessions.id, getSessionId(caller)), gt(sessions.createdAt, since)));
  if (!recent) throw new AppError('forbidden', 'Sign in again first: this session is older than 15 minutes.');
}
