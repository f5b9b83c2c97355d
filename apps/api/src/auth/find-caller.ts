import { type Db, preparedQuery, sessions, settings, users } from '@carillon/db';
import { and, eq, gt, lte, sql } from 'drizzle-orm';
import type { Caller, Context, SessionClaims } from '../context.ts';
import {
  buildClaim,
  type Claim,
  type ClaimRequest,
  claimValues,
  type FoundClaim,
  toClaim,
} from '../idempotency/claim.ts';
import { buildCount, type CountedRequest, countValues, type RateWindow } from '../limits/windows.ts';
import type { OwnedRow } from '../queries/owned-row.ts';

/** A busy session is not written at every request. */
const TOUCH_EVERY_MS = 60_000;

export interface FoundCaller {
  caller: Caller;
  window: RateWindow | null;
  maintenance: boolean;
  /** Null if the caller has no such row. */
  loaded: unknown;
  claim: Claim | null;
}

interface Extras {
  count?: CountedRequest | null;
  load?: { from: OwnedRow; id: number } | null;
  claim?: ClaimRequest | null;
}

/**
 * Returns null, and counts nothing, for an ended session or an inactive account. One statement does everything, because
 * each round trip costs a third of what a process can serve.
 */
export async function findCaller(
  ctx: Context,
  claims: SessionClaims,
  { count = null, load = null, claim = null }: Extras = {},
): Promise<FoundCaller | null> {
  const now = ctx.now();
  const query = claim ? claimQuery : sessionQuery(load?.from ?? null);
  const [found] = await query(ctx.db).execute({
    ...claims,
    ...countValues(count),
    now: now.toISOString(),
    staleAt: new Date(now.getTime() - TOUCH_EVERY_MS).toISOString(),
    rowId: load?.id,
    ...(claim && claimValues(ctx, claim)),
  });
  if (!found) return null;
  const { caller, counted, mode, row = null } = found;
  return {
    caller,
    window: counted,
    maintenance: mode.maintenance,
    loaded: row,
    claim: claim && toClaim(caller.id, claim, found as FoundClaim),
  };
}

interface SessionQuery {
  execute(values: Record<string, unknown>): Promise<SessionRow[]>;
  getQuery(): { sql: string };
}

interface SessionRow extends Partial<FoundClaim> {
  caller: Caller;
  counted: RateWindow | null;
  mode: { maintenance: boolean };
  row?: unknown;
}

const queries = new Map<OwnedRow | null, (db: Db) => SessionQuery>();

function sessionQuery(loads: OwnedRow | null) {
  const query = queries.get(loads) ?? preparedQuery((db) => prepareSessionQuery(db, loads), { connection: 'shared' });
  queries.set(loads, query);
  return query;
}

/** On a connection of its own, because the new row waits for the deletion of its user. */
const claimQuery = preparedQuery((db) => prepareSessionQuery(db, null, { claims: true }));

function prepareSessionQuery(db: Db, loads: OwnedRow | null, { claims = false } = {}): SessionQuery {
  const now = sql<Date>`${sql.placeholder('now')}::timestamptz`;
  const caller = db.$with('caller').as(
    db
      .select({
        id: users.id,
        email: users.email,
        name: users.name,
        role: users.role,
        plan: users.plan,
        timezone: users.timezone,
        trialEndsAt: users.trialEndsAt,
        createdAt: users.createdAt,
        sessionId: sql<string>`${sessions.id}`.as('session_id'),
      })
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
  const isStale = lte(sessions.lastUsedAt, sql`${sql.placeholder('staleAt')}::timestamptz`);
  const touched = db.$with('touched').as(
    db
      .update(sessions)
      .set({ lastUsedAt: now })
      .from(caller)
      .where(and(eq(sessions.id, caller.sessionId), isStale))
      .returning({ id: sessions.id }),
  );
  const counted = db.$with('counted').as(buildCount(db, caller));
  const mode = db.$with('mode').as(db.select({ maintenance: settings.maintenanceMode }).from(settings));
  const parts = [caller, touched, counted, mode];
  if (claims) {
    const { known, claimed, parts: claimParts } = buildClaim(db);
    return db
      .with(...parts, ...claimParts)
      .select()
      .from(caller)
      .leftJoin(counted, sql`true`)
      .leftJoin(known, sql`true`)
      .innerJoin(claimed, sql`true`)
      .innerJoin(mode, sql`true`)
      .prepare('find_caller_and_claim');
  }
  if (!loads) {
    return db
      .with(...parts)
      .select()
      .from(caller)
      .leftJoin(counted, sql`true`)
      .innerJoin(mode, sql`true`)
      .prepare('find_caller');
  }
  const row = db.$with('row').as(
    db
      .select(loads.fields)
      .from(loads.table)
      .innerJoin(caller, eq(loads.table.userId, caller.id))
      .where(eq(loads.table.id, sql.placeholder('rowId'))),
  );
  return db
    .with(...parts, row)
    .select()
    .from(caller)
    .leftJoin(counted, sql`true`)
    .leftJoin(row, sql`true`)
    .innerJoin(mode, sql`true`)
    .prepare('find_caller_and_row');
}
