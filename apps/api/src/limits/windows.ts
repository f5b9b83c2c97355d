import type { RateLimitDetails } from '@carillon/contract';
import { type Db, preparedQuery, rateWindows } from '@carillon/db';
import { type AnyColumn, type SQL, type Subquery, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { AppError } from '../errors.ts';
import { getEffectiveLimit, type RateLimit } from './rates.ts';
import { recordRejection } from './rejections.ts';

/** Requests with the same key share a counter. */
export interface CountedRequest {
  key: string;
  windowMs: number;
  at: Date;
}

export interface RateWindow {
  count: number;
  endsAt: Date;
}

export interface RateLimitState {
  limit: number;
  remaining: number;
  resetAt: Date;
  isExceeded: boolean;
}

/** Exact over any number of processes, because the row of the key is the only counter. */
export async function countRequest(db: Db, request: CountedRequest): Promise<RateWindow> {
  const [window] = await countQuery(db).execute(countValues(request));
  if (!window) throw new Error('The upsert of a rate window has returned no row.');
  return window;
}

export async function checkRateLimit(ctx: Context, rate: RateLimit, key: string): Promise<RateLimitState> {
  const window = await countRequest(ctx.db, { key, windowMs: rate.windowSeconds * 1000, at: ctx.now() });
  return toRateLimitState(getEffectiveLimit(ctx, rate), window);
}

/** Throws 429 beyond the limit. */
export async function assertRateLimit(ctx: Context, rate: RateLimit, key: string): Promise<void> {
  const state = await checkRateLimit(ctx, rate, key);
  if (!state.isExceeded) return;
  await recordRejection(ctx, rate.bucket);
  throw tooManyRequests(state, ctx.now());
}

export const toRateLimitState = (limit: number, { count, endsAt }: RateWindow): RateLimitState => ({
  limit,
  remaining: Math.max(0, limit - count),
  resetAt: endsAt,
  isExceeded: count > limit,
});

export function tooManyRequests({ limit, remaining, resetAt }: RateLimitState, now: Date): AppError {
  const seconds = Math.max(1, Math.ceil((resetAt.getTime() - now.getTime()) / 1000));
  const reset = resetAt.getTime();
  const details: RateLimitDetails = { limit, remaining, reset, resetIn: seconds, retryAfter: seconds };
  const wait = `${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  return new AppError('rate_limited', `Too many requests. Please try again in ${wait}.`, details);
}

const givenKey = sql<string>`${sql.placeholder('countKey')}::text`;

const countAt = sql<Date>`${sql.placeholder('countAt')}::timestamptz`;
const countEndsAt = sql<Date>`${sql.placeholder('countEndsAt')}::timestamptz`;
const isOpen = sql`${rateWindows.endsAt} > ${countAt}`;

/** Adds to a window that is open, and begins a new one otherwise. */
const addToWindow = {
  target: rateWindows.key,
  set: {
    count: sql`case when ${isOpen} then ${rateWindows.count} + excluded.count else excluded.count end`,
    endsAt: sql`case when ${isOpen} then ${rateWindows.endsAt} else excluded.ends_at end`,
  },
};

/** For a prepared statement with `countValues`. Counts nothing if `from` has no row or the key is null. */
export function buildCount(db: Db, from: Subquery | SQL, key = givenKey) {
  const first = { key: key.as('key'), count: sql<number>`1`.as('count'), endsAt: countEndsAt.as('ends_at') };
  return db
    .insert(rateWindows)
    .select((query) => query.select(first).from(from).where(sql`${key} is not null`))
    .onConflictDoUpdate(addToWindow)
    .returning({ count: rateWindows.count, endsAt: rateWindows.endsAt });
}

/** Counts the rows of `from` by their keys, locked in the order of the keys: other processes count the same ones. */
export function buildCounts(db: Db, from: Subquery, key: SQL.Aliased<string | null>) {
  const windows = {
    key: sql<string>`${key}`.as('key'),
    count: sql<number>`count(*)`.as('count'),
    endsAt: countEndsAt.as('ends_at'),
  };
  return db
    .insert(rateWindows)
    .select((query) => query.select(windows).from(from).where(sql`${key} is not null`).groupBy(key).orderBy(key))
    .onConflictDoUpdate(addToWindow)
    .returning({ key: rateWindows.key, count: rateWindows.count, endsAt: rateWindows.endsAt });
}

/** For `countValues`: appends the id to the key of the request. */
export const buildCallerKey = (userId: SQL | AnyColumn) => sql<string>`${givenKey} || ${userId}`;

export const countValues = (request: CountedRequest | null) => ({
  countKey: request?.key ?? null,
  countAt: request?.at.toISOString() ?? null,
  countEndsAt: request && new Date(request.at.getTime() + request.windowMs).toISOString(),
});

const countQuery = preparedQuery((db) => buildCount(db, sql`(select) one`).prepare('count_request'), {
  connection: 'shared',
});
