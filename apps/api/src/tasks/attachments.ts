import { uploads } from '@carillon/db';
import { and, eq, inArray, or, sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';
import { Refusal } from '../errors.ts';

/**
 * The ids of the caller's uploads that `attachments` names by URL or id, in that order and each once. What is none
 * of them is refused, each at its place in the list (decisions §5 and §11).
 */
export async function findAttachments(ctx: Context, caller: Caller, attachments: readonly string[]): Promise<string[]> {
  if (attachments.length === 0) return [];
  const ids = attachments.filter((name) => UUID.test(name)).map((id) => id.toLowerCase());
  const urls = attachments.filter((name) => !UUID.test(name));
  const found = await ctx.db
    .select({ id: uploads.id, url: uploads.url })
    .from(uploads)
    .where(
      and(
        eq(uploads.userId, caller.id),
        or(
          ids.length > 0 ? inArray(uploads.id, ids) : undefined,
          // By the hash that the index holds: a data URL is megabytes long.
          urls.length > 0
            ? inArray(
                sql`md5(${uploads.url})`,
                urls.map((url) => sql`md5(${url})`),
              )
            : undefined,
        ),
      ),
    );
  const details: Record<string, string[]> = {};
  const chosen = attachments.map((name, at) => {
    const upload = found.find(({ id, url }) => id === name.toLowerCase() || url === name);
    if (!upload) details[`attachments.${at}`] = ['is not a file of yours'];
    return upload?.id ?? '';
  });
  if (Object.keys(details).length > 0) throw new Refusal('invalid', 'The request is not valid.', details);
  return [...new Set(chosen)];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
