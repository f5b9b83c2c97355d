import { createHash } from 'node:crypto';
import type { DeleteUploadInput } from '@carillon/contract/uploads';
import { orphanedObjects, tasks, uploads } from '@carillon/db';
import { and, arrayContains, asc, desc, eq, ne, sql } from 'drizzle-orm';
import { type Caller, type Context, inTransaction } from '../context.ts';
import { AppError, invalidField } from '../errors.ts';
import { addToTotals, lockTotals } from './reserve.ts';

/** Tasks that are told of. */
const MOST_TASKS = 100;

/**
 * Deletes a file of the caller's, named by its URL or its id, and returns the caller's tasks that have it attached
 * (specification "Uploads", decisions §11). Refusals: 400 unless exactly one of the two is given, 404, and 403 for a
 * file of somebody else.
 */
export async function deleteUpload(
  ctx: Context,
  caller: Caller,
  input: DeleteUploadInput,
): Promise<{ id: number; name: string }[]> {
  const file = await findUpload(ctx, caller, input);
  if (!file) return refuseUpload();
  if (file.userId !== caller.id) throw new AppError('forbidden', 'This file is not yours.');
  return inTransaction(ctx, async (tx) => {
    await lockTotals(tx, caller);
    const [gone] = await tx.db
      .delete(uploads)
      .where(eq(uploads.id, file.id))
      .returning({ size: uploads.size, key: uploads.storageKey });
    if (!gone) return refuseUpload();
    await addToTotals(tx, caller.id, { bytes: -gone.size, files: -1 });
    if (gone.key !== null) await tx.db.insert(orphanedObjects).values({ key: gone.key, deleteAfter: tx.now() });
    return (
      tx.db
        .select({ id: tasks.id, name: tasks.name })
        .from(tasks)
        // The second condition is that of the index.
        .where(and(eq(tasks.userId, caller.id), ne(tasks.attachments, []), arrayContains(tasks.attachments, [file.id])))
        .orderBy(asc(tasks.id))
        .limit(MOST_TASKS)
    );
  });
}

/** A URL is looked up as text, by the hash that the index holds. Users may have the same data URL: then one's own. */
async function findUpload({ db }: Context, caller: Caller, { url, id }: DeleteUploadInput) {
  if (url !== undefined && id !== undefined) throw invalidField('id', 'must not be given beside url');
  if (url === undefined && id === undefined) throw invalidField('url', 'is required, or id');
  const isIt =
    url === undefined
      ? eq(uploads.id, id as string)
      : and(sql`md5(${uploads.url}) = ${createHash('md5').update(url).digest('hex')}`, eq(uploads.url, url));
  const [file] = await db
    .select({ id: uploads.id, userId: uploads.userId })
    .from(uploads)
    .where(isIt)
    .orderBy(sql`${uploads.userId} = ${caller.id} desc`, desc(uploads.uploadedAt), asc(uploads.id))
    .limit(1);
  return file;
}

const refuseUpload = (): never => {
  throw new AppError('not_found', 'There is no such file.');
};
