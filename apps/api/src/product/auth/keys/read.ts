import type { ListApiKeysQuery } from '@carillon/contract/accounts/api-keys';
import { apiKeys } from '@carillon/db';
import { and, desc, eq, sql } from 'drizzle-orm';
import type { Caller, CallerKey, Context } from '../../../context.ts';
import { decodeCreationCursor, splitPage, toCreationKey } from '../../../platform/queries/pages.ts';
import { isNoConnection } from '../oauth-server/connections.ts';

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
  const before = decodeCreationCursor(cursor);
  const rows = await ctx.db
    .select(apiKeyFields)
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.userId, caller.id),
        isNoConnection,
        before === null
          ? undefined
          : sql`(${apiKeys.createdAt}, ${apiKeys.id}) < (${before.createdAt.toISOString()}::timestamptz, ${before.id}::uuid)`,
      ),
    )
    .orderBy(...newestFirst)
    .limit(limit + 1);
  const { page, hasMore, nextCursor } = splitPage(rows, limit, toCreationKey);
  return { keys: page, pagination: { limit, hasMore, nextCursor } };
}
