import { createHash } from 'node:crypto';
import { isUuid } from '@carillon/contract/primitives';
import { uploads } from '@carillon/db';
import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { AppError, ERROR_MESSAGES, invalidField } from '../errors.ts';

/** What the files of one task may have together: each run holds them in memory, and providers take little more. */
export const MAX_ATTACHED_BYTES = 20 * 1024 * 1024;

/**
 * The ids of the caller's uploads that `attachments` names by URL or id, in that order and each once. What is none
 * of them is refused, each at its place in the list (decisions §5 and §11), and so is more than 20 MiB in all.
 */
export async function findAttachments(ctx: Context, caller: Caller, attachments: readonly string[]): Promise<string[]> {
  if (attachments.length === 0) return [];
  const ids = attachments.filter(isUuid).map((id) => id.toLowerCase());
  const hashes = attachments.filter((name) => !isUuid(name)).map(hashOf);
  // By the hash that the index holds, and without the URL: a data URL is megabytes long.
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
    // None of them is pruned before the task that names it can be seen.
    .orderBy(uploads.id)
    .for('key share');
  const details: Record<string, string[]> = {};
  const chosen = attachments.map((name, at) => {
    const key = isUuid(name) ? name.toLowerCase() : hashOf(name);
    const upload = found.find(({ id, hash }) => id === key || hash === key);
    if (!upload) details[`attachments.${at}`] = ['is not a file of yours'];
    return upload;
  });
  if (Object.keys(details).length > 0) throw new AppError('invalid', ERROR_MESSAGES.invalid, details);
  const sizes = new Map(chosen.flatMap((upload): [string, number][] => (upload ? [[upload.id, upload.size]] : [])));
  const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  if (bytes > MAX_ATTACHED_BYTES) throw invalidField('attachments', 'must not have more than 20 MiB together');
  return [...sizes.keys()];
}

const hashOf = (url: string) => createHash('md5').update(url).digest('hex');
