import { randomUUID } from 'node:crypto';
import { normalizeEmail } from '@carillon/contract/validation/formats';
import { emailChanges, sessions, settings, users } from '@carillon/db';
import { negotiateLanguage } from '@carillon/texts';
import { and, eq, gt, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { describeActor, recordAudit } from '../../platform/events/audit-log.ts';
import { inTransaction } from '../../transaction.ts';
import { openSessionOrAsk } from './factors/sign-in.ts';
import { hashPassword, needsRehash, verifyPassword } from './passwords.ts';
import { type Account, endSession, getSessionId } from './sessions.ts';
import { throttleLogin } from './throttle-login.ts';

export interface NewAccount {
  name: string;
  email: string;
  timezone?: string | null;
  password: string;
}

/** Creates no session. Throws `conflict` if the e-mail address has an account. */
export async function register(ctx: Context, input: NewAccount) {
  const passwordHash = await hashPassword(input.password);
  return inTransaction(ctx, async (tx) => {
    const user = await insertAccount(tx, { ...input, passwordHash, role: 'USER' });
    if (!user) throw new AppError('conflict', 'This e-mail address is already registered.');
    await recordAudit(tx, { kind: 'user.registered', ...describeActor(user) });
    return user;
  });
}

/** Throws the same error after the same time for a wrong password and an unknown address, and `second_factor_required`. */
export async function logIn(ctx: Context, input: { email: string; password: string }) {
  const { id, passwordHash } = users;
  const [known] = await ctx.db.select({ id, passwordHash }).from(users).where(hasEmail(input.email));
  await throttleLogin(ctx, { email: input.email, userId: known?.id });
  const isRight = await verifyPassword(known?.passwordHash ?? null, input.password);
  if (!known || !isRight) throw wrongCredentials();

  // A reset or a sign-in that rehashed may have changed the hash.
  const checkHash = async (account: Account) => {
    if (account.passwordHash === known.passwordHash) return;
    if (!(await verifyPassword(account.passwordHash, input.password))) throw wrongCredentials();
  };
  await rehashIfWeak(ctx, known, input.password);
  return openSessionOrAsk(ctx, known.id, { check: checkHash });
}

export async function logOut(ctx: Context, caller: Caller): Promise<void> {
  await endSession(ctx, getSessionId(caller));
}

/** Throws `not_found` for a session of another user. */
export async function endOwnSession(ctx: Context, caller: Caller, sessionId: string): Promise<void> {
  const ended = await ctx.db
    .delete(sessions)
    .where(and(eq(sessions.id, sessionId), eq(sessions.userId, caller.id), gt(sessions.expiresAt, ctx.now())))
    .returning({ id: sessions.id });
  if (ended.length === 0) throw new AppError('not_found', 'Session not found');
}

export const hasEmail = (email: string) => eq(sql`lower(${users.email})`, storedEmail(email));

/** The database lower-cases as well, because its Unicode tables differ from those of Node. */
export const storedEmail = (email: string) => sql`lower(${normalizeEmail(email)})`;

interface AccountValues {
  name: string;
  email: string;
  timezone?: string | null;
  /** Null if the account signs in through a provider only. */
  passwordHash: string | null;
  role: 'USER' | 'ADMIN';
  identityUserId?: string;
  emailVerified?: boolean;
}

/** Returns undefined if the e-mail address has an account. */
export async function insertAccount(ctx: Context, values: AccountValues) {
  const { email, name, timezone, passwordHash, role, identityUserId, emailVerified } = values;
  const now = ctx.now();
  // In hours, because a day in the database's time zone can have 23 or 25.
  const trial = ctx.db
    .select({ length: sql`make_interval(hours => 24 * ${settings.trialDurationDays})` })
    .from(settings);
  const [user] = await ctx.db
    .insert(users)
    .values({
      identityUserId: identityUserId ?? `local:${randomUUID()}`,
      emailVerifiedAt: emailVerified ? now : null,
      email: storedEmail(email),
      name,
      timezone,
      language: negotiateLanguage(ctx.origin?.acceptLanguage),
      passwordHash,
      role,
      trialEndsAt: sql`${now.toISOString()}::timestamptz + (${trial})`,
      createdAt: now,
      updatedAt: now,
    })
    .onConflictDoNothing()
    .returning({ id: users.id, email: users.email, name: users.name, createdAt: users.createdAt });
  return user;
}

const wrongCredentials = () => new AppError('wrong_credentials', 'The e-mail address or the password is wrong.');

/** Does nothing if the password was changed meanwhile. */
async function rehashIfWeak(ctx: Context, known: { id: number; passwordHash: string | null }, password: string) {
  if (known.passwordHash === null || !needsRehash(known.passwordHash)) return;
  const passwordHash = await hashPassword(password);
  await ctx.db
    .update(users)
    .set({ passwordHash })
    .where(and(eq(users.id, known.id), eq(users.passwordHash, known.passwordHash)));
}

/** Makes the link of a change that is not confirmed yet invalid. */
export async function cancelEmailChange(ctx: Context, userId: number): Promise<void> {
  await ctx.db.delete(emailChanges).where(eq(emailChanges.userId, userId));
}
