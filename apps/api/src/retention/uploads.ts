import { orphanedObjects, queryRows, uploads, uploadTotals } from '@carillon/db';
import { eq, inArray, sql } from 'drizzle-orm';
import { type Context, inTransaction } from '../context.ts';
import { addToTotals } from '../uploads/totals.ts';
import { BATCH, behind, type LookBehind, lookOf } from './batches.ts';

interface Candidate {
  id: string;
  userId: number;
  isOld: boolean;
}

/** That the index knows which tasks have files at all is what the second condition says. */
const UNNAMED = sql`not exists (
  select from tasks t where t.attachment_ids @> array[uploads.id] and t.attachment_ids <> '{}')`;

/**
 * Deletes the files that were uploaded before an instant and that no task names, as their owners would: the storage of
 * their plan is free again at once, and the objects are removed soon after.
 */
export const pruneUploads =
  (before: Date): LookBehind =>
  async (ctx, after) => {
    const at = before.toISOString();
    const piece = await queryRows<Candidate>(
      ctx.db,
      sql`
      select id, user_id as "userId", uploaded_at < ${at} and ${UNNAMED} as "isOld" from uploads
      ${behind(sql.identifier('id'), after)} order by id limit ${BATCH}`,
    );
    const old = Map.groupBy(
      piece.filter(({ isOld }) => isOld),
      ({ userId }) => userId,
    );
    let deleted = 0;
    for (const [userId, files] of old) {
      if (ctx.worker.stopping.aborted) break;
      deleted += await deleteUnnamed(
        ctx,
        userId,
        files.map(({ id }) => id),
      );
    }
    return lookOf({ deleted, next: piece.length === BATCH ? (piece.at(-1)?.id ?? null) : null });
  };

/** A task that names one of the files meanwhile holds its row: that file is left, or the task finds that it is gone. */
function deleteUnnamed(ctx: Context, userId: number, ids: string[]): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    await tx.db
      .select({ userId: uploadTotals.userId })
      .from(uploadTotals)
      .where(eq(uploadTotals.userId, userId))
      .for('update');
    const free = await tx.db
      .select({ id: uploads.id })
      .from(uploads)
      .where(inArray(uploads.id, ids))
      .for('update', { skipLocked: true });
    // A statement of its own, begun after the locks were had: it sees what others have committed.
    const gone = await queryRows<{ size: number; key: string | null }>(
      tx.db,
      sql`delete from uploads where id = any(${`{${free.map(({ id }) => id).join(',')}}`}::uuid[]) and ${UNNAMED}
        returning size, storage_key as key`,
    );
    if (gone.length === 0) return 0;
    const bytes = gone.reduce((sum, { size }) => sum + size, 0);
    await addToTotals(tx, userId, { bytes: -bytes, files: -gone.length });
    const loose = gone.flatMap(({ key }) => (key === null ? [] : [{ key, deleteAfter: tx.now() }]));
    if (loose.length > 0) await tx.db.insert(orphanedObjects).values(loose);
    return gone.length;
  });
}
