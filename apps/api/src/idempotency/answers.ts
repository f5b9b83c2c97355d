import { idempotencyKeys } from '@carillon/db';
import { and, eq, isNull } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { columnAad } from '../crypto/encrypted-columns.ts';
import { decrypt, encrypt } from '../crypto/encryption.ts';
import { AppError } from '../errors.ts';
import type { Claim, EncryptedAnswer } from './claim.ts';

export interface Answer {
  status: number;
  location: string | null;
  /** JSON. */
  body: string;
}

const columnOf = ({ id }: Pick<Claim, 'id'>) => columnAad('idempotency_keys.answer_encrypted', id);

const isMine = ({ id, token }: Pick<Claim, 'id' | 'token'>) =>
  and(eq(idempotencyKeys.id, id), eq(idempotencyKeys.claimToken, token), isNull(idempotencyKeys.status));

/** False if another request has taken the claim over. Its row stays locked until the commit. */
export async function storeAnswer(
  ctx: Context,
  claim: Claim,
  { fingerprint, status, location, body }: Answer & { fingerprint: string },
): Promise<boolean> {
  // The fingerprint is encrypted too: a body with a password could be guessed from it.
  const ciphertext = encrypt(ctx.config.encryptionKeys, JSON.stringify({ fingerprint, body }), columnOf(claim));
  const { count } = await ctx.db
    .update(idempotencyKeys)
    .set({ status, location, answerEncrypted: ciphertext })
    .where(isMine(claim));
  return count > 0;
}

/** Lets the next request with the key run at once. Does nothing once an answer is stored. */
export async function releaseClaim(ctx: Context, claim: Claim): Promise<void> {
  await ctx.db.delete(idempotencyKeys).where(isMine(claim));
}

/** Throws 422 for the answer to another body. */
export function openAnswer(ctx: Context, claim: Claim, stored: EncryptedAnswer, fingerprint: string): Answer {
  const { body, fingerprint: first } = decryptAnswer(ctx, claim, stored);
  if (first !== fingerprint) throw idempotencyKeyReused();
  return { status: stored.status, location: stored.location, body };
}

function decryptAnswer(
  ctx: Context,
  claim: Claim,
  { ciphertext }: EncryptedAnswer,
): { fingerprint: string; body: string } {
  try {
    return JSON.parse(decrypt(ctx.config.encryptionKeys, ciphertext, columnOf(claim)));
  } catch (error) {
    ctx.log.error({ err: error }, 'decrypting the answer of an Idempotency-Key failed');
    throw new AppError('conflict', 'This request has succeeded before, but its answer cannot be read any more.');
  }
}

/** For the same key with another body. */
export const idempotencyKeyReused = () =>
  new AppError(
    'idempotency_key_reused',
    'This Idempotency-Key was sent with another body before. Use a new key for another request.',
  );

/** For the same key while its first request is not answered. */
export const requestInProgress = () =>
  new AppError('request_in_progress', 'The first request with this Idempotency-Key is in progress.', undefined, 1);
