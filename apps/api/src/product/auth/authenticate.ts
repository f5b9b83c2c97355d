import { apiKeys, type Db, factors, oauthTokens, preparedQuery, sessions, settings, users } from '@carillon/db';
import DataLoader from 'dataloader';
import { and, eq, gt, isNull, lte, or, sql } from 'drizzle-orm';
import type { Caller, CallerKey, Context, SessionClaims } from '../../context.ts';

/** A verified session token, or the hash of an API key or of the token of a connected app. */
export type Credentials = SessionClaims | { keyHash: string } | { tokenHash: string };

export interface Authenticated {
  caller: Caller;
  /** Whether the service is under maintenance, read with the caller because every request asks. */
  maintenance: boolean;
  /** Whether the installation asks the session's account for a second factor that it does not have. */
  isFactorMissing: boolean;
}

/** A busy session is not written at every request. */
const TOUCH_EVERY_MS = 60_000;

/**
 * Returns null for an ended session, an expired key or an inactive account. Requests that arrive in one turn of the event
 * loop share a statement: `pnpm bench task` serves twice as many with it.
 */
export async function authenticate(ctx: Context, credentials: Credentials): Promise<Authenticated | null> {
  const found = await load(loadersOf(ctx), credentials);
  if (!found) return null;
  const { maintenance, isFactorMissing, lastUsedAt, ...caller } = found;
  if ('userId' in credentials && caller.id !== credentials.userId) return null;
  if (caller.sessionId !== null && lastUsedAt) await recordUse(ctx, caller.sessionId, lastUsedAt);
  return { caller, maintenance, isFactorMissing };
}

function load({ bySession, byKeyHash, byTokenHash }: Loaders, credentials: Credentials): Promise<Found | null> {
  if ('keyHash' in credentials) return byKeyHash.load(credentials.keyHash);
  if ('tokenHash' in credentials) return byTokenHash.load(credentials.tokenHash);
  return bySession.load(credentials.sessionId);
}

type Found = Caller & { maintenance: boolean; isFactorMissing: boolean; lastUsedAt: Date | null };
type Loader = DataLoader<string, Found | null>;

const MAX_BATCH = 50;
type Loaders = Record<'bySession' | 'byKeyHash' | 'byTokenHash', Loader>;
const loaders = new WeakMap<Db, Loaders>();

function loadersOf(ctx: Context): Loaders {
  const known = loaders.get(ctx.db);
  if (known) return known;
  const values = (keys: readonly string[]) => ({ keys: `{${keys.join(',')}}`, now: ctx.now().toISOString() });
  const created = {
    bySession: createLoader(async (ids) => {
      const rows = await sessionQuery(ctx.db).execute(values(ids));
      return new Map(rows.map((row) => [row.sessionId, { ...row, apiKey: null }]));
    }),
    byKeyHash: createLoader(async (hashes) => {
      const rows = await keyQuery(ctx.db).execute(values(hashes));
      return new Map(
        rows.flatMap(({ keyHash, ...row }) => (keyHash === null ? [] : [[keyHash, { ...row, ...NO_SESSION }]])),
      );
    }),
    byTokenHash: createLoader(async (hashes) => {
      const rows = await tokenQuery(ctx.db).execute(values(hashes));
      return new Map(rows.map(({ tokenHash, ...row }) => [tokenHash, { ...row, ...NO_SESSION }]));
    }),
  };
  loaders.set(ctx.db, created);
  return created;
}

const NO_SESSION = { sessionId: null, confirmedAt: null, lastUsedAt: null, isFactorMissing: false };

const createLoader = (find: (keys: readonly string[]) => Promise<Map<string, Found>>): Loader =>
  new DataLoader(
    async (keys) => {
      const found = await find(keys);
      return keys.map((key) => found.get(key) ?? null);
    },
    // Requests of different connections are read in one turn of the event loop, but in several microtask queues.
    { cache: false, maxBatchSize: MAX_BATCH, batchScheduleFn: (run) => setImmediate(run) },
  );

const userFields = {
  id: users.id,
  email: users.email,
  name: users.name,
  role: users.role,
  plan: users.plan,
  timezone: users.timezone,
  language: users.language,
  trialEndsAt: users.trialEndsAt,
  createdAt: users.createdAt,
  maintenance: settings.maintenanceMode,
};

const always = sql`true`;
const now = sql<Date>`${sql.placeholder('now')}::timestamptz`;

/** The subquery runs only where the installation asks the account for a factor. */
const isFactorMissing = sql<boolean>`case ${settings.secondFactor}
  when 'off' then false when 'admins' then ${users.role} = 'ADMIN' else true end
  and not exists (select from ${factors} where ${factors.userId} = ${users.id} and ${factors.confirmedAt} is not null)`;

const sessionQuery = preparedQuery(
  (db) =>
    db
      .select({
        ...userFields,
        sessionId: sessions.id,
        confirmedAt: sql<Date>`greatest(${sessions.createdAt}, ${sessions.confirmedAt})`.mapWith(sessions.createdAt),
        lastUsedAt: sessions.lastUsedAt,
        isFactorMissing,
      })
      .from(sessions)
      .innerJoin(users, and(eq(users.id, sessions.userId), eq(users.isActive, true)))
      .innerJoin(settings, always)
      .where(and(sql`${sessions.id} = any(${sql.placeholder('keys')}::uuid[])`, gt(sessions.expiresAt, now)))
      .prepare('find_callers_by_session'),
  { connection: 'shared' },
);

/** The last use of a key is recorded with the number of its requests, see `auth/keys/use.ts`. */
const keyQuery = preparedQuery(
  (db) =>
    db
      .select({
        ...userFields,
        keyHash: apiKeys.secretHash,
        apiKey: {
          id: apiKeys.id,
          name: apiKeys.name,
          scopes: sql<CallerKey['scopes']>`${apiKeys.scopes}`,
          isApp: sql<boolean>`false`,
        },
      })
      .from(apiKeys)
      .innerJoin(users, and(eq(users.id, apiKeys.userId), eq(users.isActive, true)))
      .innerJoin(settings, always)
      .where(
        and(
          sql`${apiKeys.secretHash} = any(${sql.placeholder('keys')}::text[])`,
          or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
        ),
      )
      .prepare('find_callers_by_key'),
  { connection: 'shared' },
);

/** A program may ask for a token with fewer scopes than its connection has. */
const tokenQuery = preparedQuery(
  (db) =>
    db
      .select({
        ...userFields,
        tokenHash: oauthTokens.tokenHash,
        apiKey: {
          id: apiKeys.id,
          name: apiKeys.name,
          scopes: sql<CallerKey['scopes']>`string_to_array(${oauthTokens.payload}->>'scope', ' ')`,
          isApp: sql<boolean>`true`,
        },
      })
      .from(oauthTokens)
      .innerJoin(apiKeys, eq(apiKeys.id, oauthTokens.keyId))
      .innerJoin(users, and(eq(users.id, apiKeys.userId), eq(users.isActive, true)))
      .innerJoin(settings, always)
      .where(
        and(
          sql`${oauthTokens.tokenHash} = any(${sql.placeholder('keys')}::text[])`,
          eq(oauthTokens.kind, 'access'),
          gt(oauthTokens.expiresAt, now),
        ),
      )
      .prepare('find_callers_by_token'),
  { connection: 'shared' },
);

/** Not in the statement that finds the session: there it would cost each request, here one a minute. */
async function recordUse({ db, now }: Context, sessionId: string, lastUsedAt: Date): Promise<void> {
  const at = now();
  const staleAt = new Date(at.getTime() - TOUCH_EVERY_MS);
  if (lastUsedAt > staleAt) return;
  await db
    .update(sessions)
    .set({ lastUsedAt: at })
    .where(and(eq(sessions.id, sessionId), lte(sessions.lastUsedAt, staleAt)));
}
