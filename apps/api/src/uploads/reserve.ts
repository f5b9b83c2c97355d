import { randomBytes } from 'node:crypto';
import type { RateLimitDetails } from '@carillon/contract';
import { orphanedObjects, settings, uploads, uploadTotals, users } from '@carillon/db';
import { and, eq, gt, sql } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { AppError, accountDeleted } from '../errors.ts';
import { getPlanLimits, planColumns } from '../limits/plan-limits.ts';
import { quotaExceededError } from '../limits/quotas.ts';
import { checkAlerts } from '../usage/alerts.ts';

/** Specification "Concurrency". */
export const MAX_CONCURRENT_UPLOADS = 3;
/**
 * How long an upload may take, in milliseconds: longer than the server waits for a request, and the storage may take
 * after that. What a process that died has left behind is swept then, and its place is free again.
 */
export const LEASE_MS = 5 * 60_000;
/** What somebody without a place is told to wait, in seconds. Nobody knows when an upload will end; most are short. */
const WAIT_SECONDS = 5;

/** What an upload ends as: a row of `uploads`, but for its owner. */
export type NewUpload = Omit<typeof uploads.$inferInsert, 'userId'>;

/**
 * Takes one of the caller's places for an upload and returns the key of its object, which nobody can guess: until
 * `keepUpload` or `dropUpload`, or the end of the lease. Refusals: 429 while 3 are under way, 402 where no storage is left.
 */
export function reserveUpload(ctx: Context, caller: Pick<Caller, 'id'>, extension: string): Promise<string> {
  const key = `${randomBytes(24).toString('hex')}.${extension}`;
  return inTransaction(ctx, async (tx) => {
    const { used, limit } = await lockTotals(tx, caller);
    const now = tx.now();
    const running = and(eq(orphanedObjects.userId, caller.id), gt(orphanedObjects.deleteAfter, now));
    if ((await tx.db.$count(orphanedObjects, running)) >= MAX_CONCURRENT_UPLOADS) throw tooManyAtOnce(now);
    if (used >= limit) throw overStorage(used, limit);
    const deleteAfter = new Date(now.getTime() + LEASE_MS);
    await tx.db.insert(orphanedObjects).values({ key, userId: caller.id, deleteAfter });
    return key;
  });
}

/**
 * Makes an upload of what is stored under `key`, in the caller's name. Refusals: 402 where it does not fit into what is
 * left, 503 where the lease has ended meanwhile; the object is then for `dropUpload`.
 */
export function keepUpload(ctx: Context, caller: Pick<Caller, 'id'>, key: string, upload: NewUpload): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    const { used, limit } = await lockTotals(tx, caller);
    const { id: userId } = caller;
    // Only what nobody has begun to sweep: the row is gone from then on, or locked until it is.
    const mine = and(
      eq(orphanedObjects.key, key),
      eq(orphanedObjects.userId, userId),
      gt(orphanedObjects.deleteAfter, tx.now()),
    );
    const held = await tx.db.delete(orphanedObjects).where(mine).returning({ key: orphanedObjects.key });
    if (held.length === 0) throw new AppError('unavailable', 'The upload has taken too long. Please try again.');
    if (used + upload.size > limit) throw overStorage(used, limit);
    await tx.db.insert(uploads).values({ ...upload, userId });
    await addToTotals(tx, userId, { bytes: upload.size, files: 1 });
    await checkAlerts(tx, userId);
  });
}

/**
 * Gives up an upload, its place first, and deletes what of it is stored. Nothing is thrown: what cannot be done now is
 * done by the sweep. So it is where the storage has `failed`, since what it did not acknowledge may arrive there yet.
 */
export async function dropUpload(ctx: Context, key: string, { failed = false } = {}): Promise<void> {
  const { db } = ctx;
  const isIt = eq(orphanedObjects.key, key);
  try {
    const deleteAfter = new Date(ctx.now().getTime() + (failed ? LEASE_MS : 0));
    // Waits for a `keepUpload` whose answer was lost on its way: a file that is kept after all has to stay.
    await db.update(orphanedObjects).set({ userId: null, deleteAfter }).where(isIt);
    if (failed || (await db.$count(uploads, eq(uploads.storageKey, key))) > 0) return;
    await ctx.files.remove(key);
    await db.delete(orphanedObjects).where(isIt);
  } catch (error) {
    ctx.log.error({ err: error }, 'what is left of an upload is swept later');
  }
}

/** Adds to what the caller, whose totals are locked, has stored. */
export async function addToTotals(ctx: Context, userId: number, { bytes, files }: { bytes: number; files: number }) {
  await ctx.db
    .update(uploadTotals)
    .set({ bytes: sql`${uploadTotals.bytes} + ${bytes}`, files: sql`${uploadTotals.files} + ${files}` })
    .where(eq(uploadTotals.userId, userId));
}

/**
 * Locks the caller's totals until the transaction ends, so that no two decisions see the same remainder. Returns bytes:
 * what is used, and what the plan that is in force now allows.
 */
export async function lockTotals(
  { db }: Context,
  { id }: Pick<Caller, 'id'>,
): Promise<{ used: number; limit: number }> {
  await db.insert(uploadTotals).values({ userId: id }).onConflictDoNothing();
  const [row] = await db
    .select({
      used: uploadTotals.bytes,
      ...planColumns,
    })
    .from(uploadTotals)
    .innerJoin(users, eq(users.id, uploadTotals.userId))
    .crossJoin(settings)
    .where(eq(uploadTotals.userId, id))
    .for('update', { of: uploadTotals });
  if (!row) throw accountDeleted();
  return { used: row.used, limit: getPlanLimits(row).uploadBytes };
}

const overStorage = (used: number, limit: number) =>
  quotaExceededError({ resource: 'storage', used, limit, resetAt: null });

/** Decisions §10. */
function tooManyAtOnce(now: Date): AppError {
  const details: RateLimitDetails = {
    limit: MAX_CONCURRENT_UPLOADS,
    remaining: 0,
    reset: now.getTime() + WAIT_SECONDS * 1000,
    resetIn: WAIT_SECONDS,
    retryAfter: WAIT_SECONDS,
  };
  const message = `${MAX_CONCURRENT_UPLOADS} uploads of yours are under way. Please try again when one of them has ended.`;
  return new AppError('rate_limited', message, details);
}
