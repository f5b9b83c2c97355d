import { createHash } from 'node:crypto';
import { idempotencyKeys } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { columnAad, decrypt, encrypt } from '../../../lib/crypto/encryption.ts';
import { inTransaction } from '../../../transaction.ts';
import type { EncryptedResponse, KeyLock } from './key-lock.ts';

const MAX_ANSWER_BYTES = 64 * 1024;
/** Of all answers of a user. */
const MAX_USER_BYTES = 32 * 1024 * 1024;

interface StoredResponse {
  status: number;
  location: string | null;
  /** JSON. */
  body: string;
}

const columnOf = ({ id }: Pick<KeyLock, 'id'>) => columnAad('idempotency_keys.answer_encrypted', id);

const isMine = ({ id, token }: Pick<KeyLock, 'id' | 'token'>) =>
  and(eq(idempotencyKeys.id, id), eq(idempotencyKeys.claimToken, token), isNull(idempotencyKeys.status));

/** False if another request has taken the lock over. Its row stays locked until the commit. */
export function storeResponse(
  ctx: Context,
  lock: KeyLock,
  { fingerprint, status, location, body }: StoredResponse & { fingerprint: string },
): Promise<boolean> {
  const bytes = Buffer.byteLength(body);
  // The fingerprint is encrypted too: a body with a password could be guessed from it.
  const encryptAnswer = (answer: object) =>
    encrypt(ctx.config.encryptionKeys, JSON.stringify({ fingerprint, ...answer }), columnOf(lock));
  const withoutBody = { status, location, answerEncrypted: encryptAnswer({}), answerBytes: 0 };
  return inTransaction(ctx, async (tx) => {
    const store = async (values: object) => {
      const { count } = await tx.db.update(idempotencyKeys).set(values).where(isMine(lock));
      return count > 0;
    };
    if (bytes > MAX_ANSWER_BYTES) return store(withoutBody);
    // Lasts until the commit, so that answers at once do not exceed the bound together.
    await tx.db.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.storeAnswers}, ${lock.userId})`);
    const fits = sql`(select coalesce(sum(k.answer_bytes), 0) from idempotency_keys k where k.user_id = ${lock.userId})
      + ${bytes} <= ${MAX_USER_BYTES}`;
    return store({
      ...withoutBody,
      answerEncrypted: sql`case when ${fits} then ${encryptAnswer({ body })} else ${withoutBody.answerEncrypted} end`,
      answerBytes: sql`case when ${fits} then ${bytes}::int else 0 end`,
    });
  });
}

/** Lets the next request with the key run at once. Does nothing once an answer is stored. */
export async function releaseKey(ctx: Context, lock: KeyLock): Promise<void> {
  await ctx.db.delete(idempotencyKeys).where(isMine(lock));
}

/** Throws 422 for the answer to another body, and 409 where the answer was too large to be stored. */
export function decryptResponse(
  ctx: Context,
  lock: KeyLock,
  stored: EncryptedResponse,
  fingerprint: string,
): StoredResponse {
  const { body, fingerprint: first } = readStored(ctx, lock, stored);
  if (first !== fingerprint) throw idempotencyKeyReused();
  if (body === undefined)
    throw new AppError('conflict', 'This request has succeeded before, but its answer was not kept.');
  return { status: stored.status, location: stored.location, body };
}

function readStored(
  ctx: Context,
  lock: KeyLock,
  { ciphertext }: EncryptedResponse,
): { fingerprint: string; body?: string } {
  try {
    return JSON.parse(decrypt(ctx.config.encryptionKeys, ciphertext, columnOf(lock)));
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

/** The SHA-256 of a parsed body, regardless of the order of its fields. The depth of bodies is limited before. */
export const buildFingerprint = (body: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(body, sortFields) ?? '')
    .digest('base64url');

const sortFields = (_name: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;
