import { type Requester, sessions } from '@carillon/db';
import { and, eq, lte } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { type Claim, type ClaimRequest, claimValues, type FoundClaim, toClaim } from '../../idempotency/claim.ts';
import { type CountedRequest, countValues, type RateWindow } from '../../limits/windows.ts';
import type { OwnedRow } from '../../queries/owned-row.ts';
import {
  type CallerRow,
  type Credentials,
  claimQueries,
  type FoundRow,
  kindOf,
  type PageState,
  pageQuery,
} from './caller-queries.ts';
import { lookUp } from './look-up.ts';

/** A busy session is not written at every request. */
const TOUCH_EVERY_MS = 60_000;

export interface FoundCaller {
  caller: Caller;
  /** Undefined without standbys. */
  requester: Requester | undefined;
  window: RateWindow | null;
  maintenance: boolean;
  /** Null if the caller has no such row. */
  loaded: unknown;
  /** Null unless it was asked for. */
  page: PageState | null;
  /** Of the key of an idempotent request. */
  claim: Claim | null;
}

interface Extras {
  count?: CountedRequest | null;
  load?: { from: OwnedRow; id: number } | null;
  claim?: ClaimRequest | null;
  /** Whether what pages show of every user is read. */
  page?: boolean;
}

/**
 * Returns null, and counts nothing, for an ended session, an expired key or an inactive account. One statement does
 * everything, because each round trip costs a third of what a process can serve.
 */
export async function findCaller(
  ctx: Context,
  credentials: Credentials,
  { count = null, load = null, claim = null, page = false }: Extras = {},
): Promise<FoundCaller | null> {
  const now = ctx.now();
  const found = await findRow();
  if (!found) return null;
  const { caller, counted, mode, row = null } = found;
  await recordUse(ctx, caller, now);
  return {
    caller: toCaller(caller),
    requester: ctx.db.replica && { userId: caller.id, position: caller.userPosition },
    window: counted,
    maintenance: mode.maintenance,
    loaded: row,
    page: found.page ?? null,
    claim: claim && toClaim(caller.id, claim, found as FoundClaim),
  };

  async function findRow(): Promise<FoundRow | null | undefined> {
    if (!claim && !page) return lookUp(ctx.db, { credentials, count, load, now });
    const query = claim ? claimQueries[kindOf(credentials)] : pageQuery;
    const values = { ...credentials, ...countValues(count), now: now.toISOString() };
    const [row] = await query(ctx.db).execute({ ...values, ...(claim && claimValues(ctx, claim)) });
    return row;
  }
}

/** Not in the statement that finds the session: there it would cost each request, here one a minute. */
async function recordUse({ db }: Context, { sessionId, lastUsedAt }: CallerRow, now: Date): Promise<void> {
  const staleAt = new Date(now.getTime() - TOUCH_EVERY_MS);
  if (!sessionId || !lastUsedAt || lastUsedAt > staleAt) return;
  await db
    .update(sessions)
    .set({ lastUsedAt: now })
    .where(and(eq(sessions.id, sessionId), lte(sessions.lastUsedAt, staleAt)));
}

function toCaller(row: CallerRow): Caller {
  const { sessionId, confirmedAt, lastUsedAt: _, userPosition: __, keyId, keyName = '', scopes, ...user } = row;
  const apiKey = keyId && scopes ? { id: keyId, name: keyName, scopes } : null;
  return { ...user, sessionId: sessionId ?? null, confirmedAt: confirmedAt ?? null, apiKey };
}
