import { oauthTokens, users } from '@carillon/db';
import { and, eq, gt, sql } from 'drizzle-orm';
import { systemClock } from '../../../context.ts';
import { hashApiKey } from '../tokens.ts';
import { toMetadata } from './clients.ts';
import { endConnection, openConnection } from './connections.ts';
import { getCall } from './library-call.ts';

type Payload = Record<string, unknown> & { accountId?: string; clientId?: string; grantId?: string; scope?: string };

/** What the library expects of its storage. */
interface Adapter {
  upsert(id: string, payload: Payload, expiresIn: number): Promise<void>;
  find(id: string): Promise<Payload | undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

/** How long a replaced refresh token gives new pairs: assistants refresh from several servers at once. */
const GRACE_MS = 60_000;

const TOKEN_KINDS = { AuthorizationCode: 'code', AccessToken: 'access', RefreshToken: 'refresh' } as const;

/** Sessions, interactions and grants of the library are made from the call, so that there is only one of each. */
export function createAdapter(resource: string, name: string): Adapter {
  if (name in TOKEN_KINDS) return createTokenAdapter(TOKEN_KINDS[name as keyof typeof TOKEN_KINDS]);
  if (name === 'Client') return { ...nothing, find: async (id) => findCallClient(id) };
  if (name === 'Session') return { ...nothing, find: async () => describeSession() };
  if (name === 'Grant') return { ...nothing, find: async (id) => findGrant(resource, id), destroy: revokeGrant };
  return nothing;
}

const nothing: Adapter = {
  async upsert() {},
  async find() {
    return undefined;
  },
  async consume() {},
  async destroy() {},
  async revokeByGrantId() {},
};

function findCallClient(id: string): Payload | undefined {
  const { client } = getCall();
  return client?.id === id ? toMetadata(client) : undefined;
}

/** The session of the user who has allowed it, so that the library asks nothing. */
function describeSession(): Payload | undefined {
  const { consent, client } = getCall();
  if (!consent || !client) return undefined;
  const { userId, grantId } = consent;
  const now = toSeconds(getLibraryTime());
  return {
    ...{ jti: grantId, uid: grantId, kind: 'Session', accountId: String(userId) },
    ...{ loginTs: now, iat: now, exp: now + 60, authorizations: { [client.id]: { grantId, sid: grantId } } },
  };
}

/** What a code or a refresh token was given for. */
function findGrant(resource: string, grantId: string): Payload | undefined {
  const { client, consent, source } = getCall();
  if (consent && client) return describeGrant(resource, grantId, consent.userId, client.id, consent.scopes.join(' '));
  if (source?.grantId !== grantId) return undefined;
  return describeGrant(resource, grantId, source.userId, source.clientId, String(source.payload.scope));
}

const describeGrant = (resource: string, jti: string, userId: number, clientId: string, scope: string): Payload => ({
  ...{ jti, kind: 'Grant', accountId: String(userId), clientId, resources: { [resource]: scope } },
  iat: toSeconds(getLibraryTime()),
});

const toSeconds = (ms: number) => Math.floor(ms / 1000);

/** The library reads the clock of the machine. */
const getLibraryTime = () => systemClock().getTime();

/**
 * Ends the connection after the second use of a code or of an old refresh token, since somebody may have stolen it. A code that
 * was never exchanged has no connection.
 */
async function revokeGrant(grantId: string): Promise<void> {
  await endConnection(getCall().ctx, grantId);
}

function createTokenAdapter(kind: (typeof TOKEN_KINDS)[keyof typeof TOKEN_KINDS]): Adapter {
  const hasToken = (token: string) => and(eq(oauthTokens.tokenHash, hashApiKey(token)), eq(oauthTokens.kind, kind));
  return {
    async upsert(token, { jti: _token, iat: _iat, exp: _exp, ...payload }, expiresIn) {
      const { ctx, client, source } = getCall();
      const { accountId, grantId, clientId } = payload;
      if (!client || !grantId || !clientId) throw new Error('The token has no grant.');
      const now = ctx.now();
      if (kind === 'access') {
        const redirect = String(source?.payload.redirectUri);
        await openConnection(ctx, client, { ...payload, grantId, redirect, userId: Number(accountId) });
      }
      await ctx.db.insert(oauthTokens).values({
        tokenHash: hashApiKey(token),
        kind,
        userId: Number(accountId),
        clientId,
        grantId,
        keyId: kind === 'code' ? null : grantId,
        payload,
        expiresAt: new Date(now.getTime() + expiresIn * 1000),
      });
    },

    /** Locks the account first, as everything does that ends a connection, and then the token. */
    async find(token) {
      const call = getCall();
      const { ctx } = call;
      const [owner] = await ctx.db.select({ userId: oauthTokens.userId }).from(oauthTokens).where(hasToken(token));
      if (!owner) return undefined;
      await ctx.db.select({ id: users.id }).from(users).where(eq(users.id, owner.userId)).for('no key update');
      const now = ctx.now();
      const [row] = await ctx.db
        .select()
        .from(oauthTokens)
        .where(and(hasToken(token), gt(oauthTokens.expiresAt, now)))
        .for('update');
      if (!row) return undefined;
      const { payload, expiresAt, consumedAt } = row;
      if (kind !== 'access') call.source = row;
      const usedUntil = consumedAt && consumedAt.getTime() + (kind === 'refresh' ? GRACE_MS : 0);
      const isUsed = usedUntil !== null && usedUntil <= now.getTime();
      const exp = toSeconds(getLibraryTime() + expiresAt.getTime() - now.getTime()) + 1;
      return {
        ...payload,
        jti: token,
        exp,
        iat: toSeconds(getLibraryTime()),
        ...(isUsed && { consumed: toSeconds(usedUntil) }),
      };
    },

    async consume(token) {
      const { ctx } = getCall();
      const consumedAt = sql`coalesce(${oauthTokens.consumedAt}, ${ctx.now().toISOString()}::timestamptz)`;
      await ctx.db.update(oauthTokens).set({ consumedAt }).where(hasToken(token));
    },

    async destroy(token) {
      await getCall().ctx.db.delete(oauthTokens).where(hasToken(token));
    },

    revokeByGrantId: revokeGrant,
  };
}
