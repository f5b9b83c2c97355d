import type { RateLimitDetails } from '@carillon/contract';
import { type Db, preparedQuery, rateWindows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { effectiveLimit, type RateLimit } from './rates.ts';

/** A request as it is counted. */
export interface Hit {
  /** Everything with the same key shares a counter. */
  key: string;
  limit: number;
  windowMs: number;
  now: Date;
}

/** Where a caller stands in the window that a request was counted in. */
export interface RateLimitState {
  limit: number;
  windowMs: number;
  /** The requests of the window so far, this one and those beyond the limit among them. */
  count: number;
  endsAt: Date;
}

/** A request under `rate`, counted by `key`. */
export const hitOf = (ctx: Pick<Context, 'now' | 'config'>, rate: RateLimit, key: string): Hit => ({
  key,
  limit: effectiveLimit(ctx, rate),
  windowMs: rate.windowSeconds * 1000,
  now: ctx.now(),
});

/**
 * Counts a request and tells where its caller stands: exact to the number over any number of processes, since the row
 * of the key is the one counter there is (decisions §10). A window begins with its first request.
 */
export async function countHit(db: Db, { limit, ...hit }: Hit): Promise<RateLimitState> {
  const [counted] = await countQuery(db).execute(hitValues(hit));
  if (!counted) throw new Error('The upsert of a rate window has returned no row.');
  return { limit, windowMs: hit.windowMs, ...counted };
}

export const isExceeded = ({ count, limit }: RateLimitState): boolean => count > limit;

export const remainingOf = ({ count, limit }: RateLimitState): number => Math.max(0, limit - count);

/** The 429 of a caller who is over the limit of `rate`; the monitoring is told. */
export function refuseHit(ctx: Context, { bucket }: RateLimit, standing: RateLimitState): AppError {
  ctx.metrics.rateLimited(bucket);
  return tooManyRequests(standing, ctx.now());
}

/** The same as a refusal alone (specification "Rate-limit response"). */
export function tooManyRequests(standing: RateLimitState, now: Date): AppError {
  const { limit, endsAt } = standing;
  const seconds = Math.max(1, Math.ceil((endsAt.getTime() - now.getTime()) / 1000));
  const details: RateLimitDetails = {
    limit,
    remaining: remainingOf(standing),
    reset: endsAt.getTime(),
    resetIn: seconds,
    retryAfter: seconds,
  };
  const wait = `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  return new AppError('rate_limited', `Too many requests. Please try again in ${wait}.`, details);
}

/** What the placeholders of `firstOfWindow`, `isCounted` and `oneMore` stand for; null for what is not counted. */
export const hitValues = (hit: Omit<Hit, 'limit'> | null) => ({
  hitKey: hit?.key ?? null,
  hitAt: hit?.now.toISOString() ?? null,
  hitEndsAt: hit && new Date(hit.now.getTime() + hit.windowMs).toISOString(),
});

const at: SQL<Date> = sql`${sql.placeholder('hitAt')}::timestamptz`;

/** The row of a hit that begins a window, for an insert in a prepared statement. */
export const firstOfWindow = {
  key: sql<string>`${sql.placeholder('hitKey')}::text`.as('key'),
  count: sql<number>`1`.as('count'),
  endsAt: sql<Date>`${sql.placeholder('hitEndsAt')}::timestamptz`.as('ends_at'),
};

/** Keeps the insert from counting what is not to be counted. */
export const isCounted: SQL = sql`${sql.placeholder('hitKey')}::text is not null`;

/** What the insert does where the key has a row: counts on in its window, or begins a new one once that has ended. */
export const oneMore = {
  target: rateWindows.key,
  set: {
    count: sql`case when ${rateWindows.endsAt} > ${at} then ${rateWindows.count} + 1 else 1 end`,
    endsAt: sql`case when ${rateWindows.endsAt} > ${at} then ${rateWindows.endsAt} else excluded.ends_at end`,
  },
};

/** What the insert returns. */
export const counted = { count: rateWindows.count, endsAt: rateWindows.endsAt };

const countQuery = preparedQuery(
  (db) =>
    db
      .insert(rateWindows)
      .select((query) => query.select(firstOfWindow).from(sql`(select) one`))
      .onConflictDoUpdate(oneMore)
      .returning(counted)
      .prepare('count_hit'),
  { connection: 'shared' },
);
