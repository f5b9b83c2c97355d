import { randomUUID } from 'node:crypto';
import type { CreatePasskeyInput } from '@carillon/contract/accounts/factors';
import { factors, recoveryCodes, sessions, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq, gt, isNull } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError, accountDeleted, ERROR_MESSAGES, invalidField } from '../../../errors.ts';
import { columnAad, decrypt, encrypt } from '../../../lib/crypto/encryption.ts';
import { buildTotpUri, generateTotpSecret } from '../../../lib/crypto/totp.ts';
import { queueMail } from '../../../lib/mail/queue.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { inTransaction } from '../../../transaction.ts';
import { assertFactorConfirmed } from '../confirm-session.ts';
import { endUserSessions, getSessionId } from '../sessions.ts';
import { useChallenge } from './challenges.ts';
import { replaceCodes, useTotpStep } from './codes.ts';
import { passkeyRefused, verifyRegistration } from './passkeys.ts';
import { factorFields, isOwnFactor } from './read.ts';

const MAX_FACTORS = 20;
const CONFIRM_WITHIN_MS = 60 * 60 * 1000;

type Factor = Pick<typeof factors.$inferSelect, 'id' | 'kind' | 'name'>;

/** Returns the secret for the app. An earlier one without its first code is replaced. Throws 402, 403. */
export function createTotp(
  ctx: Context,
  caller: Caller,
  { name = 'Authenticator app' }: { name?: string | undefined },
) {
  const id = randomUUID();
  const secret = generateTotpSecret();
  const secretEncrypted = encrypt(ctx.config.encryptionKeys, secret, columnAad('factors.secret_encrypted', id));
  return inTransaction(ctx, async (tx) => {
    const { email } = await lockOwner(tx, caller);
    await tx.db.delete(factors).where(and(eq(factors.userId, caller.id), isNull(factors.confirmedAt)));
    await assertRoom(tx, caller);
    const [factor] = await tx.db
      .insert(factors)
      .values({ id, userId: caller.id, kind: 'totp', name, secretEncrypted, createdAt: tx.now() })
      .returning(factorFields);
    if (!factor) throw new Error('The insert of a factor has returned no row.');
    return { factor, secret, uri: buildTotpUri(secret, email) };
  });
}

/** The secret of one that waits for its first code, for the app once more. Throws 403, 404. */
export async function getTotp(ctx: Context, caller: Caller, id: string) {
  await assertFactorConfirmed(ctx, caller);
  const { secretEncrypted, name } = await findWaiting(ctx, caller, id);
  const secret = decrypt(ctx.config.encryptionKeys, secretEncrypted ?? '', columnAad('factors.secret_encrypted', id));
  return { name, secret, uri: buildTotpUri(secret, caller.email) };
}

/** Returns the recovery codes with the first factor of the account. Throws 400 for a wrong code, 403, 404. */
export function confirmTotp(ctx: Context, caller: Caller, id: string, code: string) {
  return inTransaction(ctx, async (tx) => {
    const account = await lockOwner(tx, caller);
    const factor = await findWaiting(tx, caller, id);
    const isFirst = await hasNone(tx, caller.id);
    if (!(await useTotpStep(tx, factor, code))) throw invalidField('code', 'is wrong');
    await tx.db.update(factors).set({ confirmedAt: tx.now() }).where(eq(factors.id, id));
    return { recoveryCodes: await finishCreation(tx, caller, account, { factor, isFirst }) };
  });
}

async function findWaiting(ctx: Context, caller: Caller, id: string) {
  const since = new Date(ctx.now().getTime() - CONFIRM_WITHIN_MS);
  const isWaiting = and(isNull(factors.confirmedAt), gt(factors.createdAt, since));
  const [factor] = await ctx.db
    .select()
    .from(factors)
    .where(and(eq(factors.id, id), eq(factors.userId, caller.id), isWaiting));
  if (!factor) throw factorNotFound();
  return factor;
}

/** Throws 400 for a passkey of another session or installation, 402, 403. */
export async function createPasskey(ctx: Context, caller: Caller, { name, response }: CreatePasskeyInput) {
  const sessionId = getSessionId(caller);
  const { challenge, credential } = await verifyRegistration(ctx, response, sessionId);
  return inTransaction(ctx, async (tx) => {
    const account = await lockOwner(tx, caller);
    const isFirst = await hasNone(tx, caller.id);
    await assertRoom(tx, caller);
    const now = tx.now();
    const [factor] = await tx.db
      .insert(factors)
      .values({
        id: randomUUID(),
        userId: caller.id,
        kind: 'passkey',
        name,
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey).toString('base64url'),
        transports: response.response.transports ?? [],
        counter: credential.counter,
        createdAt: now,
        confirmedAt: now,
      })
      .onConflictDoNothing({ target: factors.credentialId })
      .returning(factorFields);
    if (!factor || !(await useChallenge(tx, challenge))) throw passkeyRefused();
    return { factor, recoveryCodes: await finishCreation(tx, caller, account, { factor, isFirst }) };
  });
}

/** Throws 403, 404. */
export async function deleteFactor(ctx: Context, caller: Caller, id: string): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    const account = await lockOwner(tx, caller);
    const [factor] = await tx.db
      .delete(factors)
      .where(and(eq(factors.id, id), isOwnFactor(caller.id)))
      .returning(factorFields);
    if (!factor) throw factorNotFound();
    if (await hasNone(tx, caller.id)) await tx.db.delete(recoveryCodes).where(eq(recoveryCodes.userId, caller.id));
    await recordAudit(tx, { kind: 'user.factor_removed', ...describeActor(caller), details: describeFactor(factor) });
    await queueMail(tx, { ...toMail(account), ...getTexts(account.language).mails.factorRemoved(factor.name) });
  });
}

/** Throws 403, and 409 without a factor. */
export function createRecoveryCodes(ctx: Context, caller: Caller) {
  return inTransaction(ctx, async (tx) => {
    const account = await lockOwner(tx, caller);
    if (await hasNone(tx, caller.id)) {
      throw new AppError('conflict', 'Recovery codes need a second factor: add one first.');
    }
    const codes = await replaceCodes(tx, caller.id);
    await recordAudit(tx, { kind: 'user.recovery_codes_created', ...describeActor(caller) });
    await queueMail(tx, { ...toMail(account), ...getTexts(account.language).mails.recoveryCodesCreated() });
    return codes;
  });
}

/** For an operator: deletes all factors, and ends the sessions. Returns how many factors there were. */
export function resetFactors(ctx: Context, userId: number, by: string): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    const account = await lockUser(tx, userId);
    if (!account) throw accountDeleted();
    const deleted = await tx.db.delete(factors).where(eq(factors.userId, userId)).returning({ id: factors.id });
    await tx.db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
    await endUserSessions(tx, userId);
    await recordAudit(tx, { kind: 'user.factors_reset', ...describeActor(null, userId), details: { by } });
    await queueMail(tx, { ...toMail(account), ...getTexts(account.language).mails.factorsReset() });
    return deleted.length;
  });
}

type Owner = Pick<typeof users.$inferSelect, 'id' | 'email' | 'language'>;

const toMail = ({ id, email }: Owner) => ({ to: email, userId: id });

async function finishCreation(
  ctx: Context,
  caller: Caller,
  account: Owner,
  { factor, isFirst }: { factor: Factor; isFirst: boolean },
): Promise<string[]> {
  await recordAudit(ctx, { kind: 'user.factor_added', ...describeActor(caller), details: describeFactor(factor) });
  await queueMail(ctx, { ...toMail(account), ...getTexts(account.language).mails.factorAdded(factor.name) });
  // The user has just used the new factor.
  await ctx.db
    .update(sessions)
    .set({ factorAt: ctx.now() })
    .where(eq(sessions.id, getSessionId(caller)));
  return isFirst ? replaceCodes(ctx, caller.id) : [];
}

const describeFactor = ({ id, kind, name }: Factor) => ({ factorId: id, kind, name });

/** Changes of one account wait for each other and for its sign-ins. Throws 401 for an ended session, and 403. */
async function lockOwner(ctx: Context, caller: Caller): Promise<Owner> {
  const sessionId = getSessionId(caller);
  const account = await lockUser(ctx, caller.id);
  if (!account) throw accountDeleted();
  if ((await ctx.db.$count(sessions, eq(sessions.id, sessionId))) === 0) {
    throw new AppError('unauthenticated', ERROR_MESSAGES.unauthenticated);
  }
  await assertFactorConfirmed(ctx, caller);
  return account;
}

async function lockUser(ctx: Context, userId: number): Promise<Owner | undefined> {
  const { id, email, language } = users;
  const [account] = await ctx.db.select({ id, email, language }).from(users).where(eq(id, userId)).for('no key update');
  return account;
}

const hasNone = async (ctx: Context, userId: number) => (await ctx.db.$count(factors, isOwnFactor(userId))) === 0;

async function assertRoom(ctx: Context, caller: Caller): Promise<void> {
  const used = await ctx.db.$count(factors, eq(factors.userId, caller.id));
  if (used >= MAX_FACTORS) throw quotaExceededError({ resource: 'factors', used, limit: MAX_FACTORS, resetAt: null });
}

const factorNotFound = () => new AppError('not_found', 'Second factor not found');
