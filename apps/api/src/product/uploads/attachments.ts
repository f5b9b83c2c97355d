import { createHash } from 'node:crypto';
import { isUuid } from '@carillon/contract/validation/formats';
import { toItemMessage } from '@carillon/contract/validation/unsafe-values';
import { uploads } from '@carillon/db';
import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { AppError, ERROR_MESSAGES, invalidField } from '../../errors.ts';

/** Per task: runs load their files in memory, and providers accept little more. */
export const MAX_ATTACHED_BYTES = 20 * 1024 * 1024;

/** Accepts URLs and ids; drops duplicates. Throws 400. */
export async function getAttachmentIds(
  ctx: Context,
  caller: Caller,
  attachments: readonly string[],
): Promise<string[]> {
  if (attachments.length === 0) return [];
  const ids = attachments.filter(isUuid).map((id) => id.toLowerCase());
  const hashes = attachments.filter((entry) => !isUuid(entry)).map(hashUrl);
  // The hash is indexed, and a data URL has megabytes.
  const hash = sql<string>`md5(${uploads.url})`;
  const found = await ctx.db
    .select({ id: uploads.id, size: uploads.size, hash: hashes.length > 0 ? hash : sql<null>`null` })
    .from(uploads)
    .where(
      and(
        eq(uploads.userId, caller.id),
        or(
          ids.length > 0 ? inArray(uploads.id, ids) : undefined,
          hashes.length > 0 ? inArray(hash, hashes) : undefined,
        ),
      ),
    )
    // Locked against pruning until the task is committed.
    .orderBy(uploads.id)
    .for('key share');
  const problems: string[] = [];
  const sizes = new Map<string, number>();
  for (const [index, entry] of attachments.entries()) {
    const key = isUuid(entry) ? entry.toLowerCase() : hashUrl(entry);
    const upload = found.find(({ id, hash }) => id === key || hash === key);
    if (upload) sizes.set(upload.id, upload.size);
    else problems.push(toItemMessage(index, 'is not one of your files'));
  }
  if (problems.length > 0) throw new AppError('invalid', ERROR_MESSAGES.invalid, { attachments: problems });
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (bytes > MAX_ATTACHED_BYTES) throw invalidField('attachments', 'must have at most 20 MiB together');
  return [...sizes.keys()];
}

const hashUrl = (url: string) => createHash('md5').update(url).digest('hex');
