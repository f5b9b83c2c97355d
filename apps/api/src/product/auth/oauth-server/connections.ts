import { apiKeys, oauthClients, oauthTokens, users } from '@carillon/db';
import { getTexts } from '@carillon/texts';
import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { queueMail } from '../../../lib/mail/queue.ts';
import { describeActor, recordAudit } from '../../../platform/events/audit-log.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { describeHost, type OAuthClient } from './clients.ts';

const MAX_CONNECTIONS = 50;

interface Granted {
  grantId: string;
  userId: number;
  /** The address that the code was sent to. */
  redirect: string;
  scope?: string;
  /** How the library got here: `authorization_code`, then also `refresh_token`. */
  gty?: unknown;
}

/**
 * Makes the connection of a code that is exchanged, in place of an earlier one of the client. Nothing for a refresh. The account is
 * locked. Throws 402, and `sign_in_failed` for a client that was blocked.
 */
export async function openConnection(
  ctx: Context,
  { id: clientId, name }: OAuthClient,
  { grantId, userId, redirect, scope = '', gty }: Granted,
): Promise<void> {
  if (gty !== 'authorization_code') return;
  const [client] = await ctx.db
    .select({ blockedAt: oauthClients.blockedAt })
    .from(oauthClients)
    .where(eq(oauthClients.id, clientId))
    .for('share');
  if (!client || client.blockedAt) throw new AppError('sign_in_failed', 'An administrator has blocked this program.');
  const host = describeHost(redirect);
  const isEarlier = and(eq(apiKeys.userId, userId), eq(apiKeys.clientId, clientId));
  const earlier = await ctx.db.delete(apiKeys).where(isEarlier).returning({ id: apiKeys.id });
  await assertRoom(ctx, userId);
  const scopes = scope.split(' ');
  await ctx.db.insert(apiKeys).values({
    ...{ id: grantId, userId, name, prefix: '', secretHash: null, scopes },
    ...{ clientId, clientHost: host, createdAt: ctx.now() },
  });
  await ctx.db
    .update(oauthTokens)
    .set({ keyId: grantId })
    .where(and(eq(oauthTokens.userId, userId), eq(oauthTokens.grantId, grantId)));
  await recordAudit(ctx, {
    kind: 'app.connected',
    ...describeActor(null, userId),
    details: { appId: grantId, name, host, scopes },
  });
  if (earlier.length === 0) await mailOwner(ctx, userId, name, host);
}

async function mailOwner(ctx: Context, userId: number, name: string, host: string): Promise<void> {
  const { email, language } = users;
  const [owner] = await ctx.db.select({ email, language }).from(users).where(eq(users.id, userId));
  if (!owner) return;
  const mail = getTexts(owner.language).mails.appConnected(name, host, `${ctx.config.appUrl}/settings/apps`);
  await queueMail(ctx, { to: owner.email, userId, ...mail });
}

/** Throws 402 unless the user may have one connection more, besides that of `clientId`. */
export async function assertRoom(ctx: Context, userId: number, clientId = ''): Promise<void> {
  const isOther = and(isConnection, sql`${apiKeys.clientId} <> ${clientId}`);
  const used = await ctx.db.$count(apiKeys, and(eq(apiKeys.userId, userId), isOther));
  if (used < MAX_CONNECTIONS) return;
  throw quotaExceededError({ resource: 'connections', used, limit: MAX_CONNECTIONS, resetAt: null });
}

export const isConnection = isNotNull(apiKeys.clientId);
export const isNoConnection = isNull(apiKeys.clientId);

const ENDED = { id: apiKeys.id, userId: apiKeys.userId, name: apiKeys.name, host: apiKeys.clientHost };

/** Ends a connection with its tokens, which cannot be used from then on. */
export async function endConnection(ctx: Context, id: string, actor: Actor = null): Promise<void> {
  const ended = await ctx.db
    .delete(apiKeys)
    .where(and(eq(apiKeys.id, id), isConnection))
    .returning(ENDED);
  for (const app of ended) await recordEnd(ctx, app, actor);
}

/** Ends all connections of a user, and the codes that would make one. The account is locked. */
export async function endUserConnections(ctx: Context, userId: number): Promise<void> {
  await ctx.db.delete(oauthTokens).where(eq(oauthTokens.userId, userId));
  const ended = await ctx.db
    .delete(apiKeys)
    .where(and(eq(apiKeys.userId, userId), isConnection))
    .returning(ENDED);
  for (const app of ended) await recordEnd(ctx, app);
}

/** Ends all connections of a program. */
export async function endClientConnections(ctx: Context, clientId: string, actor: Actor): Promise<void> {
  await ctx.db.delete(oauthTokens).where(eq(oauthTokens.clientId, clientId));
  const ended = await ctx.db.delete(apiKeys).where(eq(apiKeys.clientId, clientId)).returning(ENDED);
  for (const app of ended) await recordEnd(ctx, app, actor);
}

type Actor = Pick<Caller, 'id' | 'email'> | null;

const recordEnd = (
  ctx: Context,
  { id, userId, name, host }: { id: string; userId: number; name: string; host: string | null },
  actor: Actor = null,
) =>
  recordAudit(ctx, { kind: 'app.disconnected', ...describeActor(actor, userId), details: { appId: id, name, host } });
