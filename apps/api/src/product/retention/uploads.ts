import { orphanedObjects, queryRows, uploads, uploadTotals } from '@carillon/db';
import { eq, inArray, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { inTransaction } from '../../transaction.ts';
import { addToTotals } from '../uploads/totals.ts';
import { afterKey, BATCH_SIZE, type PruneBatch, toBatch } from './batch.ts';

interface Candidate {
  id: string;
  userId: number;
  isExpired: boolean;
}

/** The second condition lets PostgreSQL use the partial index of the tasks with attachments. */
const IS_UNUSED = sql`not exists (
  select from tasks t where t.attachment_ids @> array[uploads.id] and t.attachment_ids <> '{}')`;

/** The storage quota of the owner is free at once; the objects are deleted soon after. */
export const pruneUploads =
  (before: Date): PruneBatch =>
  async (ctx, after) => {
    const candidates = await queryRows<Candidate>(
      ctx.db,
      sql`
      select id, user_id, uploaded_at < ${before.toISOString()} and ${IS_UNUSED} as is_expired from uploads
      ${afterKey(sql.identifier('id'), after)} order by id limit ${BATCH_SIZE}`,
    );
    const expired = Map.groupBy(
      candidates.filter(({ isExpired }) => isExpired),
      ({ userId }) => userId,
    );
    let deleted = 0;
    for (const [userId, files] of expired) {
      if (ctx.worker.stopping.aborted) break;
      const ids = files.map(({ id }) => id);
      deleted += await deleteUnused(ctx, userId, ids);
    }
    return toBatch({ deleted, next: candidates.length === BATCH_SIZE ? (candidates.at(-1)?.id ?? null) : null });
  };

/** Upload rows are locked: a file attached to a task meanwhile stays, or the attachment is refused. */
function deleteUnused(ctx: Context, userId: number, ids: string[]): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    await tx.db
      .select({ userId: uploadTotals.userId })
      .from(uploadTotals)
      .where(eq(uploadTotals.userId, userId))
      .for('update');
    const locked = await tx.db
      .select({ id: uploads.id })
      .from(uploads)
      .where(inArray(uploads.id, ids))
      .for('update', { skipLocked: true });
    // A separate statement after the locks sees what other transactions have committed.
    const deleted = await queryRows<{ size: number; key: string | null }>(
      tx.db,
      sql`delete from uploads where id = any(${`{${locked.map(({ id }) => id).join(',')}}`}::uuid[]) and ${IS_UNUSED}
        returning size, storage_key as key`,
    );
    if (deleted.length === 0) return 0;
    const bytes = deleted.reduce((sum, { size }) => sum + size, 0);
    await addToTotals(tx, userId, { bytes: -bytes, files: -deleted.length });
    const orphaned = deleted.flatMap(({ key }) => (key === null ? [] : [{ key, deleteAfter: tx.now() }]));
    if (orphaned.length > 0) await tx.db.insert(orphanedObjects).values(orphaned);
    return deleted.length;
  });
}
