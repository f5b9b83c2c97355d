import { idempotencyKeys } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { columnAad } from '../../../lib/crypto/encrypted-columns.ts';
import { decrypt, encrypt } from '../../../lib/crypto/encryption.ts';
import { inTransaction } from '../../../transaction.ts';
import type { Claim, EncryptedAnswer } from './claim.ts';

const MAX_ANSWER_BYTES = 64 * 1024;
/** Of all answers of a user. */
const MAX_USER_BYTES = 32 * 1024 * 1024;

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
export function storeAnswer(
  ctx: Context,
  claim: Claim,
  { fingerprint, status, location, body }: Answer & { fingerprint: string },
): Promise<boolean> {
  const bytes = Buffer.byteLength(body);
  // The fingerprint is encrypted too: a body with a password could be guessed from it.
  const encryptAnswer = (answer: object) =>
    encrypt(ctx.config.encryptionKeys, JSON.stringify({ fingerprint, ...answer }), columnOf(claim));
  const withoutBody = { status, location, answerEncrypted: encryptAnswer({}), answerBytes: 0 };
  return inTransaction(ctx, async (tx) => {
    const store = async (values: object) => {
      const { count } = await tx.db.update(idempotencyKeys).set(values).where(isMine(claim));
      return count > 0;
    };
    if (bytes > MAX_ANSWER_BYTES) return store(withoutBody);
    // Lasts until the commit, so that answers at once do not exceed the bound together.
    await tx.db.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.storeAnswers}, ${claim.userId})`);
    const fits = sql`(select coalesce(sum(k.answer_bytes), 0) from idempotency_keys k where k.user_id = ${claim.userId})
      + ${bytes} <= ${MAX_USER_BYTES}`;
    return store({
      ...withoutBody,
      answerEncrypted: sql`case when ${fits} then ${encryptAnswer({ body })} else ${withoutBody.answerEncrypted} end`,
      answerBytes: sql`case when ${fits} then ${bytes}::int else 0 end`,
    });
  });
}

/** Lets the next request with the key run at once. Does nothing once an answer is stored. */
export async function releaseClaim(ctx: Context, claim: Claim): Promise<void> {
  await ctx.db.delete(idempotencyKeys).where(isMine(claim));
}

/** Throws 422 for the answer to another body, and 409 where the answer was too large to be stored. */
export function openAnswer(ctx: Context, claim: Claim, stored: EncryptedAnswer, fingerprint: string): Answer {
  const { body, fingerprint: first } = decryptAnswer(ctx, claim, stored);
  if (first !== fingerprint) throw idempotencyKeyReused();
  if (body === undefined)
    throw new AppError('conflict', 'This request has succeeded before, but its answer was not kept.');
  return { status: stored.status, location: stored.location, body };
}

function decryptAnswer(
  ctx: Context,
  claim: Claim,
  { ciphertext }: EncryptedAnswer,
): { fingerprint: string; body?: string } {
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
