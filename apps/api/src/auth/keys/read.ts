import type { ListApiKeysQuery } from '@carillon/contract/accounts/api-keys';
import { isUuid } from '@carillon/contract/primitives';
import { apiKeys } from '@carillon/db';
import { and, desc, eq, sql } from 'drizzle-orm';
import type { Caller, CallerKey, Context } from '../../context.ts';
import { encodeCursor, parseCursorInstant, splitPage, unknownCursor } from '../../queries/pages.ts';

/** The fields of `ApiKey` in the contract. */
export const apiKeyFields = {
  id: apiKeys.id,
  name: apiKeys.name,
  prefix: apiKeys.prefix,
  scopes: sql<CallerKey['scopes'][number][]>`${apiKeys.scopes}`,
  expiresAt: apiKeys.expiresAt,
  lastUsedAt: apiKeys.lastUsedAt,
  createdAt: apiKeys.createdAt,
};

const newestFirst = [desc(apiKeys.createdAt), desc(apiKeys.id)];

/** Newest first. */
export async function listApiKeys(ctx: Context, caller: Pick<Caller, 'id'>, { limit, cursor }: ListApiKeysQuery) {
  const before = decodeCursor(cursor);
  const rows = await ctx.db
    .select(apiKeyFields)
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.userId, caller.id),
        before &&
          sql`(${apiKeys.createdAt}, ${apiKeys.id}) < (${before.createdAt.toISOString()}::timestamptz, ${before.id}::uuid)`,
      ),
    )
    .orderBy(...newestFirst)
    .limit(limit + 1);
  const { page, hasMore, nextCursor } = splitPage(
    rows,
    limit,
    ({ createdAt, id }) => `${createdAt.toISOString()} ${id}`,
  );
  return { keys: page, pagination: { limit, hasMore, nextCursor } };
}

/** Keys can be created in one millisecond, so a cursor has the id too. Throws 400. */
function decodeCursor(cursor: string | undefined): { createdAt: Date; id: string } | undefined {
  if (cursor === undefined) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [instant = '', id = ''] = text.split(' ');
  if (!isUuid(id) || encodeCursor(text) !== cursor || text !== `${instant} ${id}`) throw unknownCursor();
  return { createdAt: parseCursorInstant(instant), id };
}
