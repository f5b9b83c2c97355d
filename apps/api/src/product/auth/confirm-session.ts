import { sessions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, accountDeleted, ERROR_MESSAGES, invalidField } from '../../errors.ts';
import { verifyCurrentPassword } from './current-password.ts';
import { getSessionId } from './sessions.ts';

const CONFIRMED_MS = 15 * 60 * 1000;

const toConfirmedUntil = (at: Date): Date => new Date(at.getTime() + CONFIRMED_MS);

const isConfirmed = ({ now }: Pick<Context, 'now'>, { confirmedAt }: Caller): boolean =>
  confirmedAt !== null && toConfirmedUntil(confirmedAt) > now();

/** Throws `not_confirmed` unless the session was opened, or the password given in it, within the last 15 minutes. */
export function assertConfirmed(ctx: Pick<Context, 'now'>, caller: Caller): void {
  if (!isConfirmed(ctx, caller)) throw new AppError('not_confirmed', ERROR_MESSAGES.notConfirmed);
}

/** Confirms the caller's session for 15 minutes. Throws 400 for a wrong password, 409 without one, and 429. */
export async function confirmSession(ctx: Context, caller: Caller, password: string, field?: string): Promise<Date> {
  const sessionId = getSessionId(caller);
  if ((await verifyCurrentPassword(ctx, caller, password, field)) === null) throw new AppError('conflict', NO_PASSWORD);
  const confirmedAt = ctx.now();
  // Another password ends the session, and then nothing is confirmed.
  const confirmed = await ctx.db
    .update(sessions)
    .set({ confirmedAt })
    .where(eq(sessions.id, sessionId))
    .returning({ id: sessions.id });
  if (confirmed.length === 0) throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
  return toConfirmedUntil(confirmedAt);
}

const NO_PASSWORD = 'This account has no password: sign out, and sign in again.';

/** Until when the caller's session is confirmed, and whether a password can confirm it. */
export async function getConfirmation(ctx: Context, caller: Caller) {
  const [row] = await ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, caller.id));
  if (!row) throw accountDeleted();
  const confirmedUntil = isConfirmed(ctx, caller) && caller.confirmedAt ? toConfirmedUntil(caller.confirmedAt) : null;
  return { hasPassword: row.passwordHash !== null, confirmedUntil };
}

/**
 * Confirms the caller's session with the password of a form, which may be left out while it is confirmed. Throws 400 at
 * `currentPassword`, 409 for an account without a password, and 429.
 */
export async function confirmWith(ctx: Context, caller: Caller, currentPassword: string | undefined): Promise<void> {
  if (currentPassword !== undefined) {
    await confirmSession(ctx, caller, currentPassword);
    return;
  }
  if (isConfirmed(ctx, caller)) return;
  const { hasPassword } = await getConfirmation(ctx, caller);
  if (!hasPassword) throw new AppError('conflict', NO_PASSWORD);
  throw invalidField('currentPassword', 'is needed: you signed in more than 15 minutes ago');
}
