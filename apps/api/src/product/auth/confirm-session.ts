import type { ConfirmSessionInput } from '@carillon/contract/accounts/auth';
import type { PasskeyAssertion } from '@carillon/contract/accounts/proofs';
import { sessions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, accountDeleted, ERROR_MESSAGES, invalidField } from '../../errors.ts';
import { inTransaction } from '../../transaction.ts';
import { verifyCurrentPassword } from './current-password.ts';
import { countWrongCodes, type GivenCode, useCode } from './factors/codes.ts';
import { passkeyRejected, usePasskey, verifyPasskey } from './factors/passkeys.ts';
import { findFactorAt, listFactorKinds } from './factors/read.ts';
import { getSessionId } from './sessions.ts';

const CONFIRMED_MS = 15 * 60 * 1000;

const toConfirmedUntil = (at: Date): Date => new Date(at.getTime() + CONFIRMED_MS);

const isConfirmed = ({ now }: Pick<Context, 'now'>, { confirmedAt }: Caller): boolean =>
  confirmedAt !== null && toConfirmedUntil(confirmedAt) > now();

/** Throws `not_confirmed` unless the session was opened, or confirmed, within the last 15 minutes. */
export function assertConfirmed(ctx: Pick<Context, 'now'>, caller: Caller): void {
  if (!isConfirmed(ctx, caller)) throw new AppError('not_confirmed', ERROR_MESSAGES.notConfirmed);
}

/** As `assertConfirmed`; an account with a second factor must have given one. Who has the password alone cannot switch it off. */
export async function assertFactorConfirmed(ctx: Context, caller: Caller): Promise<void> {
  assertConfirmed(ctx, caller);
  if ((await listFactorKinds(ctx, caller.id)).length === 0) return;
  const factorAt = await findFactorAt(ctx, getSessionId(caller));
  if (factorAt === null || toConfirmedUntil(factorAt) <= ctx.now()) {
    throw new AppError('not_confirmed', ERROR_MESSAGES.factorNotConfirmed);
  }
}

/** Confirms the caller's session for 15 minutes. Throws 400 for a wrong password, 409 without one, and 429. */
export async function confirmSession(ctx: Context, caller: Caller, password: string, field?: string): Promise<Date> {
  const sessionId = getSessionId(caller);
  if ((await verifyCurrentPassword(ctx, caller, password, field)) === null) throw new AppError('conflict', NO_PASSWORD);
  return setConfirmed(ctx, sessionId, { confirmedAt: ctx.now() });
}

/** With the one proof of the input. Throws 400 for none, several or a wrong one, 409 for a password that there is not, and 429. */
export async function confirmBy(
  ctx: Context,
  caller: Caller,
  input: ConfirmSessionInput,
  bindings: readonly string[],
): Promise<void> {
  const [field, other] = Object.keys(input);
  if (other !== undefined) throw invalidField(other, `cannot be sent with ${field}`);
  const { password, code, recoveryCode, response } = input;
  if (response !== undefined) await confirmWithFactor(ctx, caller, { response }, bindings);
  else if (code !== undefined) await confirmWithFactor(ctx, caller, { code }, bindings);
  else if (recoveryCode !== undefined) await confirmWithFactor(ctx, caller, { recoveryCode }, bindings);
  else if (password !== undefined) await confirmSession(ctx, caller, password, 'password');
  else throw invalidField('password', 'is required');
}

type FactorProof = GivenCode | { response: PasskeyAssertion };

/** With a second factor. `bindings` are those of a passkey's challenge. Throws 400 for a wrong one, and 429. */
async function confirmWithFactor(
  ctx: Context,
  caller: Caller,
  proof: FactorProof,
  bindings: readonly string[],
): Promise<Date> {
  const now = ctx.now();
  const confirm = (tx: Context) => setConfirmed(tx, getSessionId(caller), { confirmedAt: now, factorAt: now });
  const confirming =
    'response' in proof
      ? confirmWithPasskey(ctx, caller, proof.response, bindings, confirm)
      : countWrongCodes(ctx, caller.id, () =>
          inTransaction(ctx, async (tx) => {
            await useCode(tx, caller.id, proof);
            return confirm(tx);
          }),
        );
  return confirming.catch((error) => {
    const isWrong = error instanceof AppError && error.kind === 'factor_rejected';
    throw isWrong ? invalidField(Object.keys(proof)[0] ?? 'code', 'is wrong, or was used before') : error;
  });
}

async function confirmWithPasskey(
  ctx: Context,
  caller: Caller,
  response: PasskeyAssertion,
  bindings: readonly string[],
  confirm: (tx: Context) => Promise<Date>,
): Promise<Date> {
  const passkey = await verifyPasskey(ctx, response, bindings);
  if (passkey.userId !== caller.id) throw passkeyRejected();
  return inTransaction(ctx, async (tx) => {
    await usePasskey(tx, passkey);
    return confirm(tx);
  });
}

async function setConfirmed(
  ctx: Context,
  sessionId: string,
  at: { confirmedAt: Date; factorAt?: Date },
): Promise<Date> {
  // Another password ends the session, and then nothing is confirmed.
  const confirmed = await ctx.db
    .update(sessions)
    .set(at)
    .where(eq(sessions.id, sessionId))
    .returning({ id: sessions.id });
  if (confirmed.length === 0) throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
  return toConfirmedUntil(at.confirmedAt);
}

const NO_PASSWORD = 'This account has no password: sign out, and sign in again.';

/** Until when the caller's session is confirmed, also for changes of factors, and what can confirm it. */
export async function getConfirmation(ctx: Context, caller: Caller) {
  const [[row], factorKinds, factorAt] = await Promise.all([
    ctx.db.select({ passwordHash: users.passwordHash }).from(users).where(eq(users.id, caller.id)),
    listFactorKinds(ctx, caller.id),
    findFactorAt(ctx, getSessionId(caller)),
  ]);
  if (!row) throw accountDeleted();
  const confirmedUntil = isConfirmed(ctx, caller) && caller.confirmedAt ? toConfirmedUntil(caller.confirmedAt) : null;
  const isFactorGiven = factorKinds.length === 0 || (factorAt !== null && toConfirmedUntil(factorAt) > ctx.now());
  const mayChangeFactors = confirmedUntil !== null && isFactorGiven;
  return { hasPassword: row.passwordHash !== null, factorKinds, confirmedUntil, mayChangeFactors };
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
