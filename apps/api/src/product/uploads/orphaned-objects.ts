import { orphanedObjects } from '@carillon/db';
import { and, asc, eq, lte } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { drainDueRows, selectDueRows } from '../../lib/queue/due-rows.ts';

const BATCH_SIZE = 20;
/** Longer than a deletion; also the wait before a retry. */
const LEASE_MS = 10 * 60_000;
const STOP_GRACE_MS = 5000;

type OrphanedObject = Pick<typeof orphanedObjects.$inferSelect, 'key' | 'deleteAfter'>;

/** A claim detaches an object from its user, so a later completion of the upload fails. */
export function deleteOrphanedObjects(ctx: Context, { graceMs = STOP_GRACE_MS } = {}): Promise<number> {
  return drainDueRows({
    batchSize: BATCH_SIZE,
    stopping: ctx.worker.stopping,
    graceMs,
    claim: () => claimDueObjects(ctx),
    work: (object, signal) => abandonOnAbort(deleteObject(ctx, object), signal),
  });
}

/** The storage client cannot be aborted: a hanging deletion is abandoned and fails. */
async function abandonOnAbort(deletion: Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const ended = new AbortController();
  const aborted = new Promise<false>((resolve) => {
    signal.addEventListener('abort', () => resolve(false), { signal: ended.signal });
  });
  try {
    return await Promise.race([deletion, aborted]);
  } finally {
    ended.abort();
  }
}

async function claimDueObjects(ctx: Context): Promise<OrphanedObject[]> {
  const now = ctx.now();
  const { key, deleteAfter } = orphanedObjects;
  const { due, isClaimed } = selectDueRows(ctx.db, {
    id: key,
    where: lte(deleteAfter, now),
    orderBy: [asc(deleteAfter)],
    limit: BATCH_SIZE,
  });
  return ctx.db
    .with(due)
    .update(orphanedObjects)
    .set({ userId: null, deleteAfter: new Date(now.getTime() + LEASE_MS) })
    .where(isClaimed)
    .returning({ key, deleteAfter });
}

async function deleteObject(ctx: Context, { key, deleteAfter }: OrphanedObject): Promise<boolean> {
  try {
    await ctx.files.remove(key);
  } catch (error) {
    ctx.log.warn({ err: error, key, deleteAfter }, 'deleting an object from the storage failed');
    return false;
  }
  await ctx.db
    .delete(orphanedObjects)
    .where(and(eq(orphanedObjects.key, key), eq(orphanedObjects.deleteAfter, deleteAfter)));
  return true;
}
