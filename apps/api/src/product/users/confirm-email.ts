import { emailChanges, notificationAddresses, passwordResets, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq, gt, isNull } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { hashLinkToken } from '../../lib/crypto/tokens.ts';
import { queueMail } from '../../lib/mail/queue.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { inTransaction } from '../../transaction.ts';
import { confirmNotificationAddress, findUnconfirmedAddress } from '../notifications/addresses.ts';
import { assertFree, assertNotBootstrapAdmin, mailConfirmation, rejectTakenEmail } from './change-email.ts';

/** What the link was for. */
export type Confirmation = 'change_approved' | 'email_changed' | 'notifications_confirmed';

/** Returns what a link would confirm, without using it; null if it cannot be used. */
export async function findConfirmation(
  ctx: Context,
  token: string,
): Promise<{ purpose: Confirmation; email: string } | null> {
  const tokenHash = hashLinkToken(token);
  const [change] = await ctx.db
    .select({ step: emailChanges.step, email: emailChanges.email })
    .from(emailChanges)
    .innerJoin(users, and(eq(users.id, emailChanges.userId), users.isActive))
    .where(and(eq(emailChanges.tokenHash, tokenHash), gt(emailChanges.expiresAt, ctx.now())));
  if (change) {
    return { purpose: change.step === 'approve' ? 'change_approved' : 'email_changed', email: change.email };
  }
  const email = await findUnconfirmedAddress(ctx, tokenHash);
  return email === null ? null : { purpose: 'notifications_confirmed', email };
}

/** Throws 400 for a link that cannot be used, and 409 if the address was registered meanwhile. */
export async function confirmEmail(ctx: Context, token: string): Promise<Confirmation> {
  const tokenHash = hashLinkToken(token);
  const [change] = await ctx.db
    .select({ userId: emailChanges.userId })
    .from(emailChanges)
    .where(eq(emailChanges.tokenHash, tokenHash));
  if (change) return rejectTakenEmail(continueChange(ctx, change.userId, tokenHash));
  if (await confirmNotificationAddress(ctx, tokenHash)) return 'notifications_confirmed';
  throw invalidLink();
}

function continueChange(ctx: Context, userId: number, tokenHash: string): Promise<Confirmation> {
  return inTransaction(ctx, async (tx) => {
    const [account] = await tx.db
      .select({ id: users.id, email: users.email, language: users.language, emailVerifiedAt: users.emailVerifiedAt })
      .from(users)
      .where(and(eq(users.id, userId), users.isActive))
      .for('no key update');
    // Only one of many submissions deletes the row.
    const [change] = await tx.db
      .delete(emailChanges)
      .where(and(eq(emailChanges.tokenHash, tokenHash), gt(emailChanges.expiresAt, tx.now())))
      .returning();
    if (!account || !change) throw invalidLink();
    assertNotBootstrapAdmin(tx, account.email);
    if (change.step === 'approve') {
      await assertFree(tx, change.email);
      await mailConfirmation(tx, account, change.email);
      return 'change_approved';
    }
    await changeEmail(tx, userId, account, change.email);
    return 'email_changed';
  });
}

type Before = Pick<typeof users.$inferSelect, 'email' | 'language' | 'emailVerifiedAt'>;

/** Voids the reset links sent to the old address, and notifies it. Sessions continue. */
async function changeEmail(ctx: Context, userId: number, before: Before, email: string): Promise<void> {
  const now = ctx.now();
  await ctx.db.update(users).set({ email, emailVerifiedAt: now, updatedAt: now }).where(eq(users.id, userId));
  await ctx.db
    .update(passwordResets)
    .set({ usedAt: now })
    .where(and(eq(passwordResets.userId, userId), isNull(passwordResets.usedAt)));
  // Tasks that mail their results to it continue to.
  if (before.emailVerifiedAt) {
    const confirmed = { tokenHash: null, expiresAt: null, confirmedAt: now };
    await ctx.db
      .insert(notificationAddresses)
      .values({ userId, email: before.email, ...confirmed })
      .onConflictDoUpdate({ target: [notificationAddresses.userId, notificationAddresses.email], set: confirmed });
  }
  const details = { before: { email: before.email }, after: { email } };
  await recordAudit(ctx, {
    kind: 'user.email_changed',
    ...describeActor({ id: userId, email: before.email }),
    details,
  });
  await queueMail(ctx, { to: before.email, userId, ...getTexts(before.language).mails.emailChanged() });
}

const invalidLink = () =>
  new AppError(
    'link_invalid',
    'This link is not valid: it was used, replaced by a newer one, or is older than an hour.',
  );
