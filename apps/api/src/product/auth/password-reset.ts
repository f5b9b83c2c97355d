import { compileValidator, Email } from '@carillon/contract';
import { passwordResets, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq, gt, isNull, type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { generateLinkToken, hashLinkToken, LINK_LIFETIME_MS } from '../../lib/crypto/tokens.ts';
import { buildResetLink } from '../../lib/mail/links.ts';
import { queueMail, queueReset } from '../../lib/mail/queue.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { emailKey, RESET_MAILS, RESET_MAILS_PER_DAY } from '../../platform/limits/rates.ts';
import { recordRejection } from '../../platform/limits/rejections.ts';
import { checkRateLimit } from '../../platform/limits/windows.ts';
import { inTransaction } from '../../transaction.ts';
import { deleteUserApiKeys } from './keys/write.ts';
import { hashPassword } from './passwords.ts';
import { endUserSessions } from './sessions.ts';
import { cancelEmailChange, hasEmail, storedEmail } from './write.ts';

const TOKEN = /^[0-9a-f]{64}$/;

const TOKEN_ERRORS = {
  reset_token_invalid: 'Token inválido',
  reset_token_expired: 'Token expirado',
  reset_token_used: 'Token já utilizado',
} as const;

const checkEmail = compileValidator(Email);

/**
 * Does the same for every address, so that it does not reveal accounts; nothing for other texts. Invalidates older tokens, except beyond the limit
 * of mails to one address: then nothing happens, so that strangers cannot keep the owner from using the last link.
 */
export async function requestReset(ctx: Context, { email }: { email: string }): Promise<void> {
  if (!checkEmail(email).ok) return;
  if (!(await countResetMail(ctx, email))) return recordRejection(ctx, RESET_MAILS.bucket);
  // The language of the account is known when the mail is composed.
  const { subject } = getTexts('en').mails.resetPassword('');
  await queueReset(ctx, storedEmail(email), subject);
}

/** Returns whether to mail. Only returns false if it returned true less than an hour ago: that link is still valid. */
async function countResetMail(ctx: Context, email: string): Promise<boolean> {
  const hour = await checkRateLimit(ctx, RESET_MAILS, emailKey(RESET_MAILS, email));
  if (hour.isExceeded) return false;
  const day = await checkRateLimit(ctx, RESET_MAILS_PER_DAY, emailKey(RESET_MAILS_PER_DAY, email));
  const isFirstOfHour = hour.limit - hour.remaining === 1;
  return isFirstOfHour || !day.isExceeded;
}

/** Creates the token of a reset mail and invalidates older ones. Returns null if no active account has the address. */
export function composeReset(ctx: Context, address: string) {
  return inTransaction(ctx, async (tx) => {
    const now = ctx.now();
    // The lock makes one of two concurrent tokens invalidate the other.
    const [user] = await tx.db
      .select({ id: users.id, language: users.language })
      .from(users)
      .where(and(hasEmail(address), users.isActive))
      .for('no key update');
    if (!user) return null;
    await tx.db
      .update(passwordResets)
      .set({ usedAt: now })
      .where(and(eq(passwordResets.userId, user.id), isNull(passwordResets.usedAt)));
    const token = generateLinkToken();
    const expiresAt = new Date(now.getTime() + LINK_LIFETIME_MS);
    const tokenHash = hashLinkToken(token);
    await tx.db.insert(passwordResets).values({ tokenHash, userId: user.id, createdAt: now, expiresAt });
    const link = buildResetLink(ctx, token);
    return { userId: user.id, link, ...getTexts(user.language).mails.resetPassword(link) };
  });
}

/** Does not use the token. Throws one of `TOKEN_ERRORS`, also for an inactive account. */
export async function getReset(ctx: Context, token: string): Promise<{ userId: number }> {
  const [found] = TOKEN.test(token)
    ? await ctx.db.select(RESET).from(passwordResets).innerJoin(users, ownsReset).where(hasToken(token))
    : [];
  if (!found) throw tokenError('reset_token_invalid');
  if (found.used) throw tokenError('reset_token_used');
  if (found.expiresAt <= ctx.now()) throw tokenError('reset_token_expired');
  return { userId: found.userId };
}

/** Ends all sessions of the account, and deletes its API keys if its address was not verified. Throws like `getReset`. */
export async function resetPassword(ctx: Context, input: { token: string; newPassword: string }) {
  const { userId } = await getReset(ctx, input.token);
  // After the token is known and outside of the transaction, because hashing is slow.
  const passwordHash = await hashPassword(input.newPassword);
  await inTransaction(ctx, async (tx) => {
    const now = ctx.now();
    // Signing in locks the account first: a concurrent one ends before or sees the new hash.
    const [before] = await tx.db
      .select({ emailVerifiedAt: users.emailVerifiedAt })
      .from(users)
      .where(eq(users.id, userId))
      .for('no key update');
    const [user] = await tx.db
      .update(users)
      .set({ passwordHash, emailVerifiedAt: now, updatedAt: now })
      .where(and(eq(users.id, userId), users.isActive))
      .returning({ email: users.email, language: users.language });
    if (!user || !(await useToken(tx, input.token))) {
      await getReset(tx, input.token);
      throw tokenError('reset_token_invalid');
    }
    await cancelEmailChange(tx, userId);
    await endUserSessions(tx, userId);
    // Another person may have registered the address.
    const deletedKeys = before?.emailVerifiedAt === null ? await deleteUserApiKeys(tx, userId) : null;
    await recordAudit(tx, { kind: 'user.password_reset', ...describeActor({ id: userId, email: user.email }) });
    const keys = deletedKeys === null ? 'kept' : deletedKeys.length > 0 ? 'deleted' : 'none';
    await queueMail(tx, { to: user.email, userId, ...getTexts(user.language).mails.passwordReset(keys) });
  });
}

/** Only one of many submissions wins the conditional update. */
async function useToken(ctx: Context, token: string): Promise<boolean> {
  const now = ctx.now();
  const won = await ctx.db
    .update(passwordResets)
    .set({ usedAt: now })
    .from(users)
    .where(and(ownsReset, hasToken(token), sql`not ${isUsed}`, gt(passwordResets.expiresAt, now)))
    .returning({ userId: passwordResets.userId });
  return won.length === 1;
}

const hasToken = (token: string) => eq(passwordResets.tokenHash, hashLinkToken(token));
const ownsReset = and(eq(users.id, passwordResets.userId), users.isActive);

/** A newer request whose mail is queued invalidates a token too. */
const isUsed: SQL<boolean> = sql`(${passwordResets.usedAt} is not null or exists (
  select from mails m where m.kind = 'password_reset' and m.next_attempt_at is not null
    and m.recipient = ${users.email} and m.created_at > ${passwordResets.createdAt}))`;

const RESET = { userId: passwordResets.userId, expiresAt: passwordResets.expiresAt, used: isUsed.as('used') };

const tokenError = (kind: keyof typeof TOKEN_ERRORS) => new AppError(kind, TOKEN_ERRORS[kind]);
