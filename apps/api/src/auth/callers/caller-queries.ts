import { apiKeys, type Db, preparedQuery, selectUserPosition, sessions, settings, users } from '@carillon/db';
import { and, eq, gt, isNull, or, sql, type WithSubquery } from 'drizzle-orm';
import type { Caller, CallerKey, SessionClaims } from '../../context.ts';
import { buildClaim, type FoundClaim } from '../../idempotency/claim.ts';
import { buildCallerKey, buildCount, type RateWindow } from '../../limits/windows.ts';
import type { OwnedRow } from '../../queries/owned-row.ts';

/** Read with the session, because every page shows it. */
export interface PageState {
  /** Notifications; at most 100. */
  unread: number;
  /** The position of the event log before the page was read; 0 for an empty log. */
  lastEventId: number;
}

/** A verified session token, or the hash of an API key. */
export type Credentials = SessionClaims | { keyHash: string };

export type Kind = 'session' | 'apiKey';

export const kindOf = (credentials: Credentials): Kind => ('keyHash' in credentials ? 'apiKey' : 'session');

export interface CallerRow extends Omit<Caller, 'sessionId' | 'confirmedAt' | 'apiKey'> {
  sessionId?: string;
  confirmedAt?: Date;
  lastUsedAt?: Date;
  keyId?: string;
  keyName?: string;
  scopes?: CallerKey['scopes'];
  /** Read only if there are standbys. */
  userPosition?: number;
}

export interface CallerQuery {
  execute(values: Record<string, unknown>): Promise<FoundRow[]>;
}

export interface FoundRow extends Partial<FoundClaim> {
  caller: CallerRow;
  counted: RateWindow | null;
  mode: { maintenance: boolean };
  row?: unknown;
  page?: PageState;
}

const now = sql<Date>`${sql.placeholder('now')}::timestamptz`;

const userFields = {
  id: users.id,
  email: users.email,
  name: users.name,
  role: users.role,
  plan: users.plan,
  timezone: users.timezone,
  trialEndsAt: users.trialEndsAt,
  createdAt: users.createdAt,
};

const sessionFields = {
  sessionId: sql<string>`${sessions.id}`.as('session_id'),
  confirmedAt: sql<Date>`greatest(${sessions.createdAt}, ${sessions.confirmedAt})`
    .mapWith(sessions.createdAt)
    .as('confirmed_at'),
  lastUsedAt: sessions.lastUsedAt,
};

const keyFields = {
  keyId: sql<string>`${apiKeys.id}`.as('key_id'),
  keyName: sql<string>`${apiKeys.name}`.as('key_name'),
  scopes: sql<CallerKey['scopes']>`${apiKeys.scopes}`.as('scopes'),
};

const positionFields = { userPosition: selectUserPosition('"users"."id"').as('user_position') };

export const sessionCallerFields = (db: Db) => ({ ...userFields, ...sessionFields, ...(db.replica && positionFields) });

export const keyCallerFields = (db: Db) => ({ ...userFields, ...keyFields, ...(db.replica && positionFields) });

function bySession(db: Db) {
  return db.$with('caller').as(
    db
      .select(sessionCallerFields(db))
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(
        and(
          eq(sessions.id, sql.placeholder('sessionId')),
          eq(sessions.userId, sql.placeholder('userId')),
          gt(sessions.expiresAt, now),
          eq(users.isActive, true),
        ),
      ),
  );
}

/** The key. Its last use is recorded with the number of its requests, see `auth/keys/use.ts`. */
function byApiKey(db: Db) {
  return db.$with('caller').as(
    db
      .select(keyCallerFields(db))
      .from(apiKeys)
      .innerJoin(users, eq(users.id, apiKeys.userId))
      .where(
        and(
          eq(apiKeys.secretHash, sql.placeholder('keyHash')),
          or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
          eq(users.isActive, true),
        ),
      ),
  );
}

/** On a connection of their own, because a new claim waits for the deletion of its user. */
export const claimQueries = {
  session: preparedQuery((db) => prepareCallerQuery(db, 'session', null, { claims: true })),
  apiKey: preparedQuery((db) => prepareCallerQuery(db, 'apiKey', null, { claims: true })),
};

export const pageQuery = preparedQuery((db) => prepareCallerQuery(db, 'session', null, { page: true }), {
  connection: 'shared',
});

/** Finds one caller, with the row `rowId` if the route loads one. */
export function prepareCallerQuery(
  db: Db,
  kind: Kind,
  loads: OwnedRow | null,
  { claims = false, page = false } = {},
): CallerQuery {
  const caller = kind === 'session' ? bySession(db) : byApiKey(db);
  const counted = db.$with('counted').as(buildCount(db, caller, buildCallerKey(caller.id)));
  const mode = db.$with('mode').as(db.select({ maintenance: settings.maintenanceMode }).from(settings));
  const always = sql`true`;
  const selectCaller = (...more: WithSubquery[]) =>
    db
      .with(caller, counted, mode, ...more)
      .select()
      .from(caller)
      .leftJoin(counted, always)
      .innerJoin(mode, always);

  if (claims) {
    const { known, claimed, parts: claimParts } = buildClaim(db);
    return selectCaller(...claimParts)
      .leftJoin(known, always)
      .innerJoin(claimed, always)
      .prepare(`find_caller_and_claim_by_${kind}`);
  }
  if (page) {
    const state = db.$with('page').as(db.select({ unread: unreadCount, lastEventId }).from(caller));
    return selectCaller(state).innerJoin(state, always).prepare('find_caller_for_page');
  }
  if (!loads) return selectCaller().prepare(`find_caller_by_${kind}`);
  const row = db.$with('row').as(
    db
      .select(loads.fields)
      .from(loads.table)
      .innerJoin(caller, eq(loads.table.userId, caller.id))
      .where(eq(loads.table.id, sql.placeholder('rowId'))),
  );
  return selectCaller(row).leftJoin(row, always).prepare(`find_caller_and_row_by_${kind}`);
}

const MAX_UNREAD = 100;

/** The column is written out, because drizzle leaves out its table, and notifications have an id too. */
const unreadCount = sql<number>`(select count(*)::int from (select from notifications n
  where n.user_id = "caller"."id" and n.read_at is null limit ${sql.raw(String(MAX_UNREAD))}) n)`.as('unread');

const lastEventId = sql<number>`coalesce((select p.last_id from event_positions p
  where p.user_id = "caller"."id"), 0)::float8`.as('last_event_id');
