import { orphanedObjects } from '@carillon/db';
import { and, asc, eq, inArray, lte } from 'drizzle-orm';
import type { Context } from '../context.ts';

const AT_ONCE = 20;
/** Longer than the storage is waited for: while it lasts no other process removes the object too. */
const WAIT_MS = 10 * 60_000;
/** What the storage is about to do when the process stops is waited for; the rest is tried again. */
const STOP_GRACE_MS = 5000;

type Claimed = Pick<typeof orphanedObjects.$inferSelect, 'key' | 'deleteAfter'>;

/**
 * Removes the objects that no upload owns and whose time has come from the storage, a few at once, and returns how many.
 * What the storage refuses is logged and tried again ten minutes later. Any number of processes may sweep at once. Ends
 * early when the process stops or the storage refuses all of a batch.
 *
 * From the moment that an object is claimed it takes no place of its user, and an upload that finds its row without a
 * user has lost it: it came too late.
 */
export async function deleteOrphanedObjects(ctx: Context, { graceMs = STOP_GRACE_MS } = {}): Promise<number> {
  const { stopping } = ctx.worker;
  let total = 0;
  while (!stopping.aborted) {
    const claimed = await claimDue(ctx);
    const before = total;
    const removals = claimed.map(async (object) => {
      if (await remove(ctx, object)) total += 1;
    });
    await untilStopped(stopping, graceMs, Promise.all(removals));
    if (claimed.length < AT_ONCE || total === before) break;
  }
  return total;
}

/** Waits for `work`, and for no longer than `graceMs` once the process has begun to stop. */
async function untilStopped(stopping: AbortSignal, graceMs: number, work: Promise<unknown>) {
  const ended = new AbortController();
  const cut = new Promise<void>((resolve) => {
    const begin = () => setTimeout(resolve, graceMs).unref();
    stopping.addEventListener('abort', begin, { once: true, signal: ended.signal });
  });
  try {
    await Promise.race([work, cut]);
  } finally {
    ended.abort();
  }
}

async function claimDue(ctx: Context): Promise<Claimed[]> {
  const now = ctx.now();
  const due = ctx.db
    .$with('due')
    .as(
      ctx.db
        .select({ key: orphanedObjects.key })
        .from(orphanedObjects)
        .where(lte(orphanedObjects.deleteAfter, now))
        .orderBy(asc(orphanedObjects.deleteAfter))
        .limit(AT_ONCE)
        .for('update', { skipLocked: true }),
    );
  const { key, deleteAfter } = orphanedObjects;
  return ctx.db
    .with(due)
    .update(orphanedObjects)
    .set({ userId: null, deleteAfter: new Date(now.getTime() + WAIT_MS) })
    .where(inArray(key, ctx.db.select({ key: due.key }).from(due)))
    .returning({ key, deleteAfter });
}

async function remove(ctx: Context, { key, deleteAfter }: Claimed): Promise<boolean> {
  try {
    await ctx.files.remove(key);
  } catch (error) {
    ctx.log.warn({ err: error, key, deleteAfter }, 'an object was not removed from the storage');
    return false;
  }
  await ctx.db
    .delete(orphanedObjects)
    .where(and(eq(orphanedObjects.key, key), eq(orphanedObjects.deleteAfter, deleteAfter)));
  return true;
}
