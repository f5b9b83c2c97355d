import type { ListAppsQuery } from '@carillon/contract/accounts/apps';
import { apiKeys, apiKeyUsage, oauthClients } from '@carillon/db';
import { and, count, desc, eq, gt, isNotNull, max, or, sql } from 'drizzle-orm';
import type { Caller, CallerKey, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { decodeCreationCursor, splitPage, toCreationKey } from '../../../platform/queries/pages.ts';
import { inTransaction } from '../../../transaction.ts';
import { lockAccount } from '../sessions.ts';
import { endClientConnections, endConnection, isConnection } from './connections.ts';

/** The fields of `App` in the contract. */
export const appFields = {
  id: apiKeys.id,
  name: apiKeys.name,
  host: sql<string>`${apiKeys.clientHost}`,
  scopes: sql<CallerKey['scopes'][number][]>`${apiKeys.scopes}`,
  createdAt: apiKeys.createdAt,
  lastUsedAt: apiKeys.lastUsedAt,
};

/** Newest first. */
export async function listApps(ctx: Context, caller: Pick<Caller, 'id'>, { limit, cursor }: ListAppsQuery) {
  const before = decodeCreationCursor(cursor);
  const isOlder =
    before === null
      ? undefined
      : sql`(${apiKeys.createdAt}, ${apiKeys.id}) < (${before.createdAt.toISOString()}::timestamptz, ${before.id}::uuid)`;
  const rows = await ctx.db
    .select(appFields)
    .from(apiKeys)
    .where(and(eq(apiKeys.userId, caller.id), isConnection, isOlder))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
    .limit(limit + 1);
  const { page, hasMore, nextCursor } = splitPage(rows, limit, toCreationKey);
  return { apps: page, pagination: { limit, hasMore, nextCursor } };
}

/** Throws 404. */
export async function disconnectApp(ctx: Context, caller: Caller, id: string): Promise<void> {
  await inTransaction(ctx, async (tx) => {
    await lockAccount(tx, caller.id);
    const isOwn = and(eq(apiKeys.id, id), eq(apiKeys.userId, caller.id), isConnection);
    if ((await tx.db.$count(apiKeys, isOwn)) === 0) throw new AppError('not_found', 'Connected app not found');
    await endConnection(tx, id, caller);
  });
}

/** All, for their page, with the requests of this UTC month. */
export async function listOwnApps(ctx: Context, caller: Pick<Caller, 'id'>) {
  const period = ctx.now().toISOString().slice(0, 'YYYY-MM'.length);
  return ctx.db
    .select({ ...appFields, requests: sql<number>`coalesce(${apiKeyUsage.requests}, 0)` })
    .from(apiKeys)
    .leftJoin(apiKeyUsage, and(eq(apiKeyUsage.keyId, apiKeys.id), eq(apiKeyUsage.period, period)))
    .where(and(eq(apiKeys.userId, caller.id), isConnection))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id));
}

const CLIENTS_PAGE = 50;

/** The programs that accounts are connected to, and those that are blocked, by their ids. */
export async function listClients(ctx: Context, { cursor }: { cursor?: string }) {
  const { id, name, host, blockedAt } = oauthClients;
  const accounts = count(apiKeys.id);
  const rows = await ctx.db
    .select({ id, name, host, blockedAt, accounts, lastUsedAt: max(apiKeys.lastUsedAt) })
    .from(oauthClients)
    .leftJoin(apiKeys, eq(apiKeys.clientId, id))
    .where(cursor === undefined ? undefined : gt(id, cursor))
    .groupBy(id)
    .having(or(isNotNull(blockedAt), gt(accounts, 0)))
    .orderBy(id)
    .limit(CLIENTS_PAGE + 1);
  const clients = rows.slice(0, CLIENTS_PAGE);
  return { clients, nextCursor: rows.length > CLIENTS_PAGE ? (clients.at(-1)?.id ?? null) : null };
}

/** Blocks a program, which ends its connections, or allows it again. Throws 404. */
export async function changeClient(ctx: Context, caller: Caller, { id, blocked }: { id: string; blocked: boolean }) {
  return inTransaction(ctx, async (tx) => {
    const [client] = await tx.db
      .update(oauthClients)
      .set({ blockedAt: blocked ? tx.now() : null })
      .where(eq(oauthClients.id, id))
      .returning({ name: oauthClients.name, host: oauthClients.host });
    if (!client) throw new AppError('not_found', 'Program not found');
    if (blocked) await endClientConnections(tx, id, caller);
    const kind = blocked ? 'app.blocked' : 'app.unblocked';
    await recordAudit(tx, { kind, ...describeActor(caller, null), details: { clientId: id, ...client } });
    return client;
  });
}
