import { randomUUID } from 'node:crypto';
import { type ChannelKind, type QuietHours, queryRows, toInstant, toInstantOrNull } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import type { Reader } from '@carillon/texts';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { type Lease, leaseUntil } from '../../../lib/queue/leases.ts';
import { isUrgentSql } from '../../../platform/events/held.ts';
import { DELIVERIES, getEffectiveLimit } from '../../../platform/limits/rates.ts';
import { inReportedTransaction } from '../../../transaction.ts';
import { endDelivery } from './leases.ts';

/** How many deliveries may be in progress at once, over all processes. */
export interface DeliveryLimits {
  total: number;
  /** Of these, to webhooks without a successful latest attempt. */
  unproven: number;
  /** Of these, to webhooks whose latest attempt failed. */
  failing: number;
  perProvenWebhook: number;
  perUnprovenWebhook: number;
  /** Bounds the duration of one claim. */
  webhooksPerClaim: number;
}

export const DELIVERY_LIMITS: DeliveryLimits = {
  total: 500,
  unproven: 400,
  failing: 250,
  perProvenWebhook: 10,
  perUnprovenWebhook: 3,
  webhooksPerClaim: 1000,
};

/** A webhook that has failed may have thousands of deliveries. */
const MAX_ENDED = 1000;

/** Sorts before every webhook id. */
export const FIRST_WEBHOOK = '00000000-0000-0000-0000-000000000000';

export interface ClaimedDelivery extends Lease<string> {
  webhookId: string;
  kind: 'webhook' | ChannelKind;
  userId: number;
  url: string;
  event: string;
  payload: string;
  requestId: string;
  queuedAt: Date;
  /** The attempt that follows, from 1. */
  attempt: number;
  previousAttemptAt: Date | null;
  lastAttemptOk: boolean | null;
  secretEncrypted: string;
  previousSecretEncrypted: string | null;
  previousSecretUntil: Date | null;
  /** The owner. */
  reader: Reader;
  /** Of a channel, unless the message is an alert that passes them. */
  quiet: QuietHours | null;
}

interface DeliveryClaimOptions {
  limit: number;
  /** The claim starts with the webhooks after this one. */
  after: string;
  limits?: DeliveryLimits;
  /** Gets the result if its commit was not answered. */
  onUnanswered?(result: DeliveryClaimResult): void;
}

interface DeliveryClaimResult {
  claimed: ClaimedDelivery[];
  /** Where the next claim continues. */
  next: string;
  hasMore: boolean;
}

type ClaimedRow = Omit<ClaimedDelivery, 'claimToken' | 'queuedAt' | 'previousAttemptAt' | 'previousSecretUntil'> & {
  queuedAt: string;
  previousAttemptAt: string | null;
  previousSecretUntil: string | null;
};
/** There is at least one row, because `hasMore` and `stoppedAt` describe the claim itself. */
type FoundRow = { hasMore: boolean; stoppedAt: string | null } & (ClaimedRow | { id: null });

/**
 * Claims up to `limit` queued deliveries, round-robin over the webhooks after `after`, retries first. One claim runs
 * at a time over all processes, so the limits are exact.
 */
export function claimDeliveries(
  ctx: Context,
  { limit, after, limits = DELIVERY_LIMITS, onUnanswered }: DeliveryClaimOptions,
): Promise<DeliveryClaimResult> {
  const claim = async (tx: Context) => {
    const claimToken = randomUUID();
    // Pipelined on one connection: they run in this order and cost one round trip.
    const [, found] = await Promise.all([lockClaims(tx), claimRows(tx, { limit, after, limits, claimToken })]);
    const claimed = found
      .flatMap(({ hasMore: _hasMore, stoppedAt: _at, ...row }) => (row.id === null ? [] : [row]))
      .map((row) => ({
        ...row,
        claimToken,
        queuedAt: toInstant(row.queuedAt),
        previousAttemptAt: toInstantOrNull(row.previousAttemptAt),
        previousSecretUntil: toInstantOrNull(row.previousSecretUntil),
      }));
    const webhookIds = claimed.map(({ webhookId }) => webhookId).sort();
    const next = claimed.length < limit ? found[0]?.stoppedAt : webhookIds.at(-1);
    return { claimed, next: next ?? FIRST_WEBHOOK, hasMore: found.some(({ hasMore }) => hasMore) };
  };
  return inReportedTransaction(ctx, claim, onUnanswered);
}

/** Needs its own statement: the claim then reads with a snapshot from after the wait. */
export const lockClaims = ({ db }: Context) =>
  queryRows(db, sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.claimDeliveries})`);

/** The window of the webhook `h` starts with its first attempt. */
export function addToRateWindow(ctx: Context, attempts: ReturnType<typeof sql>) {
  const now = ctx.now();
  const at = sql`${now.toISOString()}::timestamptz`;
  const ends = sql`${new Date(now.getTime() + DELIVERIES.windowSeconds * 1000).toISOString()}::timestamptz`;
  return sql`window_count = case when h.window_ends_at > ${at} then h.window_count else 0 end + ${attempts},
    window_ends_at = case when h.window_ends_at > ${at} then h.window_ends_at else ${ends} end`;
}

/** More than any limit, and far from where the count would overflow. */
const PAUSED = 1_000_000_000;

/**
 * Claims nothing more of the webhook `h` before `until`. A window that has begun lasts at least for its share of the limit:
 * pauses do not raise the rate.
 */
export function pauseRateWindow(ctx: Context, until: SQL): SQL {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const share = sql`least(1, h.window_count / ${getEffectiveLimit(ctx, DELIVERIES)}::float8)`;
  const rest = sql`make_interval(secs => ${DELIVERIES.windowSeconds}::float8 * (1 - ${share}))`;
  return sql`window_count = ${PAUSED}, window_ends_at = greatest(${until}, case when h.window_ends_at > ${at}
    then h.window_ends_at - case when h.window_count < ${PAUSED} then ${rest} else interval '0' end end)`;
}

type RowsOptions = Required<Pick<DeliveryClaimOptions, 'limit' | 'after' | 'limits'>> & { claimToken: string };

/**
 * A loose index scan over `webhooks_with_work`, those with queued deliveries. `busy` is a map, because the planner would compute a
 * set again for each webhook. Webhooks are locked before their deliveries, as everywhere. Also ends deliveries to failed
 * webhooks: an event that commits after the failure leaves one.
 *
 * Plan: one probe of `deliveries_queued` and of `endpoints` for each webhook, then rows by primary key.
 */
function claimRows(ctx: Context, { limit, after, limits, claimToken }: RowsOptions): Promise<FoundRow[]> {
  const at = sql`${ctx.now().toISOString()}::timestamptz`;
  const perMinute = getEffectiveLimit(ctx, DELIVERIES);
  return queryRows<FoundRow>(
    ctx.db,
    sql`
    with recursive webhooks_with_work(webhook_id, position) as (
      (select webhook_id, 1 from deliveries where status = 'pending' and queued_at is not null and webhook_id > ${after}
        order by webhook_id limit 1)
      union all
      select (select d.webhook_id from deliveries d where d.status = 'pending' and d.queued_at is not null
        and d.webhook_id > w.webhook_id order by d.webhook_id limit 1), w.position + 1
      from webhooks_with_work w where w.webhook_id is not null and w.position < ${limits.webhooksPerClaim}::int
    ), busy as materialized (
      select sum(s.sending) as sending, sum(s.sending) filter (where h.last_attempt_ok is not true) as unproven,
        sum(s.sending) filter (where h.last_attempt_ok = false) as failing, jsonb_object_agg(s.webhook_id, s.sending) as of
      from (select webhook_id, count(*) as sending from deliveries where status = 'sending' group by webhook_id) s
        join endpoints h on h.id = s.webhook_id
    ), next_deliveries as materialized (
      select p.id, p.queued_at from webhooks_with_work w
      cross join lateral (
        select h.id, case when h.window_ends_at > ${at} then h.window_count else 0 end as used, room
        from endpoints h join users u on u.id = h.user_id cross join lateral (
          select case when h.last_attempt_ok then ${limits.perProvenWebhook}::int else ${limits.perUnprovenWebhook}::int end
            - coalesce(((select of from busy) ->> h.id::text)::int, 0) as room) r
        where h.id = w.webhook_id and h.status = 'active' and u.is_active and room > 0
          and (h.last_attempt_ok or coalesce((select unproven from busy), 0) < ${limits.unproven}::int)
          and (h.last_attempt_ok is distinct from false
            or coalesce((select failing from busy), 0) < ${limits.failing}::int)
          and (h.window_count < ${perMinute}::int or h.window_ends_at <= ${at})
        for no key update of h skip locked
      ) h
      cross join lateral (
        select d.id, d.queued_at from deliveries d
        where d.webhook_id = h.id and d.status = 'pending' and d.queued_at is not null
        order by d.attempt desc nulls last, d.next_attempt_at
        limit least(h.room, ${perMinute}::int - h.used)
      ) p
      where not (select maintenance_mode from settings)
      limit greatest(0, least(${limit}::int, ${limits.total}::int - coalesce((select sending from busy), 0)))
    ), claimed as (
      update deliveries d set status = 'sending', claim_token = ${claimToken}, lease_until = ${leaseUntil(ctx.config.executionLeaseMs)},
        next_attempt_at = null, queued_at = null
      from next_deliveries where d.id = next_deliveries.id and d.status = 'pending'
      returning d.id, d.webhook_id, d.event, d.payload, d.request_id, d.attempt, d.previous_attempt_at, next_deliveries.queued_at
    ), counted as (
      update endpoints h set ${addToRateWindow(ctx, sql`c.attempts`)},
        last_sent_at = case when h.min_interval_minutes is null then h.last_sent_at else ${at} end
      from (select webhook_id, count(*)::int as attempts from claimed group by webhook_id) c where h.id = c.webhook_id
    ), ended as (
      update deliveries d set ${endDelivery(at)} where d.id = any(array(
        select open.id from webhooks_with_work w join endpoints h on h.id = w.webhook_id and h.status = 'failed'
        cross join lateral (
          select id from deliveries o where o.webhook_id = h.id and o.status = 'pending'
          limit ${MAX_ENDED} for no key update skip locked
        ) open
        where (select count(*) from claimed) < ${limit}::int limit ${MAX_ENDED}))
    )
    select exists (select from deliveries d where d.status = 'pending' and d.queued_at is not null
        and not exists (select from next_deliveries where next_deliveries.id = d.id)) as has_more,
      case when (select count(*) from claimed) < ${limit}::int
        then (select webhook_id from webhooks_with_work where position = ${limits.webhooksPerClaim}::int) end as stopped_at,
      d.id, d.webhook_id, d.event, d.payload, d.request_id,
      d.queued_at, d.attempt + 1 as attempt, d.previous_attempt_at, h.kind, h.user_id, h.url,
      h.last_attempt_ok, h.secret_encrypted,
      h.previous_secret_encrypted, h.previous_secret_until,
      (select json_build_object('language', u.language, 'timezone', u.timezone) from users u where u.id = h.user_id) as reader,
      case when h.quiet is null then null when h.urgent and ${isUrgentSql} then null else h.quiet end as quiet
    from (select) one left join (claimed d join endpoints h on h.id = d.webhook_id) on true`,
  );
}
