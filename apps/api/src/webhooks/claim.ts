import { randomUUID } from 'node:crypto';
import { queryRows, toInstant, toInstantOrNull } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { sql } from 'drizzle-orm';
import { type Context, inTransaction } from '../context.ts';
import { DELIVERIES, effectiveLimit } from '../limits/rates.ts';

/** How many deliveries may be under way at once. */
export interface DeliveryLimits {
  /** Over all processes: specification "Concurrency". */
  global: number;
  /** Of these, how many may be held by receivers that have not answered lately, and by those whose latest attempt failed. */
  unproven: number;
  failing: number;
  /** To a receiver whose latest attempt got through, and to any other. */
  answering: number;
  others: number;
  /** Webhooks that one claim looks at, so that none takes long, however many wait for what they may not have now. */
  hops: number;
}

export const LIMITS: DeliveryLimits = {
  global: 500,
  unproven: 400,
  failing: 250,
  answering: 10,
  others: 3,
  hops: 1000,
};

/** Before every webhook. */
export const FIRST = '00000000-0000-0000-0000-000000000000';

/** A delivery that this process sends: its lease is ours until `claimToken` says otherwise. */
export interface ClaimedDelivery {
  id: string;
  claimToken: string;
  webhookId: string;
  url: string;
  event: string;
  payload: string;
  requestId: string;
  queuedAt: Date;
  /** The number of the attempt that is to be made. */
  attempt: number;
  previousAttemptAt: Date | null;
  /** Whether the attempt before this one, of any delivery to the webhook, got through. */
  lastAttemptOk: boolean | null;
  secretSealed: string;
  previousSecretSealed: string | null;
  previousSecretUntil: Date | null;
}

export interface ClaimResult {
  claimed: ClaimedDelivery[];
  /** Where the next claim goes on among the webhooks; `FIRST` when this one reached the last of them. */
  next: string;
  /** Whether anything queued was left. */
  more: boolean;
}

type ClaimedRow = Omit<ClaimedDelivery, 'claimToken' | 'queuedAt' | 'previousAttemptAt' | 'previousSecretUntil'> & {
  queuedAt: string;
  previousAttemptAt: string | null;
  previousSecretUntil: string | null;
};
/** There is at least one row, for the sake of what is said of the claim itself. */
type FoundRow = { more: boolean; stoppedAt: string | null } & (ClaimedRow | { id: null });

/**
 * Takes up to `limit` queued deliveries of active webhooks: at most 100 a minute for a webhook, 500 at once over all
 * processes and a few at once for a receiver, fewer for one that does not answer. Goes round the webhooks from the one
 * after `after`, so that neither a thousand waiting deliveries nor hanging receivers delay anybody else (specification
 * "Delivery rules" 6, "Concurrency"; decisions §8). Retries come before first attempts.
 *
 * No two claims run at once, in any process, which is what makes the counts exact.
 */
export function claimDeliveries(
  ctx: Context,
  { limit, after, limits = LIMITS }: { limit: number; after: string; limits?: DeliveryLimits },
): Promise<ClaimResult> {
  return inTransaction(ctx, async (tx) => {
    const claimToken = randomUUID();
    // One connection runs them in this order; sent together they cost one round trip.
    const [, found] = await Promise.all([lockClaims(tx), takeDeliveries(tx, { limit, after, limits, claimToken })]);
    const claimed = found
      .flatMap(({ more: _more, stoppedAt: _at, ...row }) => (row.id === null ? [] : [row]))
      .map((row) => ({
        ...row,
        claimToken,
        queuedAt: toInstant(row.queuedAt),
        previousAttemptAt: toInstantOrNull(row.previousAttemptAt),
        previousSecretUntil: toInstantOrNull(row.previousSecretUntil),
      }));
    const last = claimed.map(({ webhookId }) => webhookId).sort();
    const next = claimed.length < limit ? found[0]?.stoppedAt : last.at(-1);
    return { claimed, next: next ?? FIRST, more: found.some(({ more }) => more) };
  });
}

/** A statement of its own: what waited for the lock must not read with a snapshot from before. */
export const lockClaims = ({ db }: Context) =>
  queryRows(db, sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.claimDeliveries})`);

/** The minute of a webhook `h` after `attempts` more: it begins with the first attempt. */
export function countAttempts(ctx: Context, attempts: ReturnType<typeof sql>) {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const ends = sql`${new Date(now.getTime() + DELIVERIES.windowSeconds * 1000).toISOString()}::timestamptz`;
  return sql`window_count = case when h.window_ends_at > ${at} then h.window_count else 0 end + ${attempts},
    window_ends_at = case when h.window_ends_at > ${at} then h.window_ends_at else ${ends} end`;
}

interface Take {
  limit: number;
  after: string;
  limits: DeliveryLimits;
  claimToken: string;
}

/**
 * Hops from webhook to webhook in the index of queued rows, so the cost is that of who waits, not of how much waits.
 * What is being sent is read once, into a map: the planner, which takes it for empty, would read it again for each hop.
 * The row of a webhook is locked before those of its deliveries, the order in which every other transaction takes them.
 */
function takeDeliveries(ctx: Context, { limit, after, limits, claimToken }: Take): Promise<FoundRow[]> {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const lease = new Date(now.getTime() + ctx.config.executionLeaseMs).toISOString();
  const aMinute = effectiveLimit(ctx, DELIVERIES);
  return queryRows<FoundRow>(
    ctx.db,
    sql`
    with recursive waiting(webhook_id, hop) as (
      (select webhook_id, 1 from deliveries where status = 'pending' and queued_at is not null and webhook_id > ${after}
        order by webhook_id limit 1)
      union all
      select (select d.webhook_id from deliveries d where d.status = 'pending' and d.queued_at is not null
        and d.webhook_id > w.webhook_id order by d.webhook_id limit 1), w.hop + 1
      from waiting w where w.webhook_id is not null and w.hop < ${limits.hops}::int
    ), busy as materialized (
      select sum(s.sending) as sending, sum(s.sending) filter (where h.last_attempt_ok is not true) as unproven,
        sum(s.sending) filter (where h.last_attempt_ok = false) as failing, jsonb_object_agg(s.webhook_id, s.sending) as of
      from (select webhook_id, count(*) as sending from deliveries where status = 'sending' group by webhook_id) s
        join webhooks h on h.id = s.webhook_id
    ), picked as materialized (
      select p.id, p.queued_at from waiting w
      cross join lateral (
        select h.id, case when h.window_ends_at > ${at} then h.window_count else 0 end as used, room
        from webhooks h join users u on u.id = h.user_id cross join lateral (
          select case when h.last_attempt_ok then ${limits.answering}::int else ${limits.others}::int end
            - coalesce(((select of from busy) ->> h.id::text)::int, 0) as room) r
        where h.id = w.webhook_id and h.status = 'active' and u.is_active and room > 0
          and (h.last_attempt_ok or coalesce((select unproven from busy), 0) < ${limits.unproven}::int)
          and (h.last_attempt_ok is distinct from false
            or coalesce((select failing from busy), 0) < ${limits.failing}::int)
          and (h.window_count < ${aMinute}::int or h.window_ends_at <= ${at})
        for no key update of h skip locked
      ) h
      cross join lateral (
        select d.id, d.queued_at from deliveries d
        where d.webhook_id = h.id and d.status = 'pending' and d.queued_at is not null
        order by d.attempt desc nulls last, d.next_attempt_at
        limit least(h.room, ${aMinute}::int - h.used)
      ) p
      where not (select maintenance_mode from settings)
      limit greatest(0, least(${limit}::int, ${limits.global}::int - coalesce((select sending from busy), 0)))
    ), claimed as (
      update deliveries d set status = 'sending', claim_token = ${claimToken}, lease_until = ${lease},
        next_attempt_at = null, queued_at = null
      from picked where d.id = picked.id and d.status = 'pending'
      returning d.id, d.webhook_id, d.event, d.payload, d.request_id, d.attempt, d.previous_attempt_at, picked.queued_at
    ), counted as (
      update webhooks h set ${countAttempts(ctx, sql`c.attempts`)}
      from (select webhook_id, count(*)::int as attempts from claimed group by webhook_id) c where h.id = c.webhook_id
    )
    select exists (select from deliveries d where d.status = 'pending' and d.queued_at is not null
        and not exists (select from picked where picked.id = d.id)) as more,
      case when (select count(*) from claimed) < ${limit}::int
        then (select webhook_id from waiting where hop = ${limits.hops}::int) end as "stoppedAt",
      c.id, c.webhook_id as "webhookId", c.event, c.payload, c.request_id as "requestId",
      c.queued_at as "queuedAt", c.attempt + 1 as attempt, c.previous_attempt_at as "previousAttemptAt", h.url,
      h.last_attempt_ok as "lastAttemptOk", h.secret_sealed as "secretSealed",
      h.previous_secret_sealed as "previousSecretSealed", h.previous_secret_until as "previousSecretUntil"
    from (select) one left join (claimed c join webhooks h on h.id = c.webhook_id) on true`,
  );
}
