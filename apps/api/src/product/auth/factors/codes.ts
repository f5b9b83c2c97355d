import { factors, recoveryCodes, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, asc, eq, isNotNull, lt } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { columnAad, decrypt } from '../../../lib/crypto/encryption.ts';
import { generateRecoveryCode, hashRecoveryCode } from '../../../lib/crypto/recovery-codes.ts';
import { findTotpStep } from '../../../lib/crypto/totp.ts';
import { queueMail } from '../../../lib/mail/queue.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { FACTOR_CODES, userKey } from '../../../platform/limits/rates.ts';
import { assertRateLimit, uncountRequest } from '../../../platform/limits/windows.ts';

const CODES = 10;

/** A code of an authenticator app, or a recovery code. */
export type GivenCode = { code: string } | { recoveryCode: string };

/**
 * Runs `use`, which calls `useCode`, and counts it while it has not ended well: concurrent guesses are counted before any is
 * compared. Throws 429 after 30 wrong codes of the account in an hour.
 */
export async function countWrongCodes<T>(ctx: Context, userId: number, use: () => Promise<T>): Promise<T> {
  const key = userKey(FACTOR_CODES, userId);
  await assertRateLimit(ctx, FACTOR_CODES, key, { userId, endpoint: FACTOR_CODES.bucket });
  const used = await use();
  await uncountRequest(ctx.db, key);
  return used;
}

/** In the transaction of what the code allows. Throws `factor_rejected` for one that is wrong or used. */
export async function useCode(ctx: Context, userId: number, given: GivenCode): Promise<void> {
  const isRight =
    'code' in given ? await useTotp(ctx, userId, given.code) : await useRecoveryCode(ctx, userId, given.recoveryCode);
  if (!isRight) throw new AppError('factor_rejected', 'This code is wrong, or was used before.');
}

async function useTotp(ctx: Context, userId: number, code: string): Promise<boolean> {
  const confirmed = and(eq(factors.userId, userId), eq(factors.kind, 'totp'), isNotNull(factors.confirmedAt));
  const { id, secretEncrypted } = factors;
  for (const factor of await ctx.db.select({ id, secretEncrypted }).from(factors).where(confirmed).orderBy(asc(id))) {
    if (await useTotpStep(ctx, factor, code)) return true;
  }
  return false;
}

type StoredTotp = Pick<typeof factors.$inferSelect, 'id' | 'secretEncrypted'>;

/** After a code, neither it nor an older one: of concurrent uses one wins the conditional update. */
export async function useTotpStep(ctx: Context, { id, secretEncrypted }: StoredTotp, code: string): Promise<boolean> {
  if (secretEncrypted === null) return false;
  const secret = decrypt(ctx.config.encryptionKeys, secretEncrypted, columnAad('factors.secret_encrypted', id));
  const step = findTotpStep(secret, code.replaceAll(/\s/g, ''), ctx.now());
  if (step === null) return false;
  const won = await ctx.db
    .update(factors)
    .set({ counter: step, lastUsedAt: ctx.now() })
    .where(and(eq(factors.id, id), lt(factors.counter, step)))
    .returning({ id: factors.id });
  return won.length === 1;
}

async function useRecoveryCode(ctx: Context, userId: number, code: string): Promise<boolean> {
  const won = await ctx.db
    .delete(recoveryCodes)
    .where(and(eq(recoveryCodes.userId, userId), eq(recoveryCodes.codeHash, hashRecoveryCode(code))))
    .returning({ userId: recoveryCodes.userId });
  if (won.length === 0) return false;
  const { email, language } = await getAccount(ctx, userId);
  const left = await ctx.db.$count(recoveryCodes, eq(recoveryCodes.userId, userId));
  await recordAudit(ctx, {
    kind: 'user.recovery_code_used',
    ...describeActor({ id: userId, email }),
    details: { left },
  });
  await queueMail(ctx, { to: email, userId, ...getTexts(language).mails.recoveryCodeUsed(left) });
  return true;
}

/** Returns the new ones, which are not shown again. */
export async function replaceCodes(ctx: Context, userId: number): Promise<string[]> {
  const codes = Array.from({ length: CODES }, generateRecoveryCode);
  await ctx.db.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId));
  await ctx.db.insert(recoveryCodes).values(codes.map((code) => ({ userId, codeHash: hashRecoveryCode(code) })));
  return codes;
}

async function getAccount(ctx: Context, userId: number) {
  const { email, language } = users;
  const [account] = await ctx.db.select({ email, language }).from(users).where(eq(users.id, userId));
  if (!account) throw new Error('The account of a recovery code is missing.');
  return account;
}
