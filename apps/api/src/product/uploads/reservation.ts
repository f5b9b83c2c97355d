import { randomBytes } from 'node:crypto';
import type { RateLimitDetails } from '@carillon/contract';
import { isOutage, orphanedObjects, uploads } from '@carillon/db';
import { and, eq, gt } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { retryWhileUnavailable } from '../../lib/queue/retry.ts';
import { quotaExceededError } from '../../platform/limits/quotas.ts';
import { inReportedTransaction, inTransaction } from '../../transaction.ts';
import { checkAlerts } from '../usage/alerts.ts';
import { addToTotals, lockTotals } from './totals.ts';

export const MAX_CONCURRENT_UPLOADS = 3;
/** Longer than a request and its storage may take. */
export const LEASE_MS = 5 * 60_000;
const RETRY_AFTER_SECONDS = 5;
const MAX_RETRY_WAIT_MS = 2000;

export type NewUpload = Omit<typeof uploads.$inferInsert, 'userId'>;

/** Returns the object's key. Throws 429 while 3 uploads run, 402 if no storage is left. */
export function reserveUpload(ctx: Context, caller: Pick<Caller, 'id'>, extension: string): Promise<string> {
  const key = `${randomBytes(24).toString('hex')}.${extension}`;
  const reserve = async (tx: Context) => {
    const { used, limit } = await lockTotals(tx, caller);
    const now = tx.now();
    const running = and(eq(orphanedObjects.userId, caller.id), gt(orphanedObjects.deleteAfter, now));
    if ((await tx.db.$count(orphanedObjects, running)) >= MAX_CONCURRENT_UPLOADS) throw tooManyUploads(now);
    if (used >= limit) throw storageExceeded(used, limit);
    const deleteAfter = new Date(now.getTime() + LEASE_MS);
    await tx.db.insert(orphanedObjects).values({ key, userId: caller.id, deleteAfter });
    return key;
  };
  return inReportedTransaction(ctx, reserve, () => void discardUpload(ctx, key));
}

/** Throws 402 if it does not fit, 503 if the lease has ended. */
export function completeUpload(
  ctx: Context,
  caller: Pick<Caller, 'id'>,
  key: string,
  upload: NewUpload,
): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { used, limit } = await lockTotals(tx, caller);
    const { id: userId } = caller;
    // Fails after a claim of the cleanup, which detaches the row from its user.
    const reservation = and(
      eq(orphanedObjects.key, key),
      eq(orphanedObjects.userId, userId),
      gt(orphanedObjects.deleteAfter, tx.now()),
    );
    const released = await tx.db.delete(orphanedObjects).where(reservation).returning({ key: orphanedObjects.key });
    if (released.length === 0) throw new AppError('unavailable', 'The upload took too long. Try again.');
    if (used + upload.size > limit) throw storageExceeded(used, limit);
    await tx.db.insert(uploads).values({ ...upload, userId });
    await addToTotals(tx, userId, { bytes: upload.size, files: 1 });
    await checkAlerts(tx, userId);
  });
}

/**
 * Never throws. If the database is unavailable, it is repeated in the background: the slot is not taken for the whole lease.
 * After a storage failure only the cleanup deletes, as the object may still arrive.
 */
export async function discardUpload(ctx: Context, key: string, { failed = false } = {}): Promise<void> {
  const logFailure = (error: unknown) => ctx.log.error({ err: error }, 'discarding an upload failed');
  try {
    await discard(ctx, key, failed);
  } catch (error) {
    logFailure(error);
    if (!isOutage(error)) return;
    const signal = AbortSignal.any([ctx.worker.stopping, AbortSignal.timeout(LEASE_MS)]);
    const options = { maxWaitMs: MAX_RETRY_WAIT_MS, signal, onRetry: () => {} };
    void retryWhileUnavailable(() => discard(ctx, key, failed), options).catch(logFailure);
  }
}

async function discard({ db, files, now }: Context, key: string, failed: boolean): Promise<void> {
  const reservation = eq(orphanedObjects.key, key);
  const deleteAfter = new Date(now().getTime() + (failed ? LEASE_MS : 0));
  // A lost `completeUpload` may still commit; then the object stays.
  await db.update(orphanedObjects).set({ userId: null, deleteAfter }).where(reservation);
  if (failed || (await db.$count(uploads, eq(uploads.storageKey, key))) > 0) return;
  await files.remove(key);
  await db.delete(orphanedObjects).where(reservation);
}

const storageExceeded = (used: number, limit: number) =>
  quotaExceededError({ resource: 'storage', used, limit, resetAt: null });

function tooManyUploads(now: Date): AppError {
  const details: RateLimitDetails = {
    limit: MAX_CONCURRENT_UPLOADS,
    remaining: 0,
    reset: now.getTime() + RETRY_AFTER_SECONDS * 1000,
    resetIn: RETRY_AFTER_SECONDS,
    retryAfter: RETRY_AFTER_SECONDS,
  };
  const message = `${MAX_CONCURRENT_UPLOADS} of your uploads are in progress. Try again when one of them has ended.`;
  return new AppError('rate_limited', message, details);
}
