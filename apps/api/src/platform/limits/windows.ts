import type { RateLimitDetails } from '@carillon/contract';
import { type Db, preparedQuery, rateWindows } from '@carillon/db';
import DataLoader from 'dataloader';
import { and, eq, gt, sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { AppError } from '../../errors.ts';
import { getEffectiveLimit, type RateLimit } from './rates.ts';
import { type Rejection, recordRejection } from './rejections.ts';

/** Requests with the same key share a counter. */
export interface CountedRequest {
  key: string;
  windowMs: number;
  at: Date;
}

interface RateWindow {
  count: number;
  endsAt: Date;
}

interface RateLimitState {
  limit: number;
  remaining: number;
  resetAt: Date;
  isExceeded: boolean;
}

/** Exact over any number of processes, because the row of the key is the only counter. Requests of one turn share a statement. */
export const countRequest = (db: Db, request: CountedRequest): Promise<RateWindow> => loaderOf(db).load(request);

export async function checkRateLimit(ctx: Context, rate: RateLimit, key: string): Promise<RateLimitState> {
  const window = await countRequest(ctx.db, { key, windowMs: rate.windowSeconds * 1000, at: ctx.now() });
  return toRateLimitState(getEffectiveLimit(ctx, rate), window);
}

/** Takes back a request that turned out not to count. */
export async function uncountRequest(db: Db, key: string): Promise<void> {
  await db
    .update(rateWindows)
    .set({ count: sql`${rateWindows.count} - 1` })
    .where(and(eq(rateWindows.key, key), gt(rateWindows.count, 0)));
}

/** Throws 429 beyond the limit, which the usage of `rejected` shows. */
export async function assertRateLimit(ctx: Context, rate: RateLimit, key: string, rejected?: Rejection): Promise<void> {
  const state = await checkRateLimit(ctx, rate, key);
  if (!state.isExceeded) return;
  await recordRejection(ctx, rate.bucket, rejected);
  throw tooManyRequests(state, ctx.now());
}

const toRateLimitState = (limit: number, { count, endsAt }: RateWindow): RateLimitState => ({
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

const MAX_BATCH = 50;
const loaders = new WeakMap<Db, DataLoader<CountedRequest, RateWindow>>();

function loaderOf(db: Db): DataLoader<CountedRequest, RateWindow> {
  const known = loaders.get(db);
  if (known) return known;
  const loader = new DataLoader<CountedRequest, RateWindow>((requests) => countAll(db, requests), {
    cache: false,
    maxBatchSize: MAX_BATCH,
    batchScheduleFn: (run) => setImmediate(run),
  });
  loaders.set(db, loader);
  return loader;
}

/** Each request of one key sees those before it. */
async function countAll(db: Db, requests: readonly CountedRequest[]): Promise<RateWindow[]> {
  const byKey = Map.groupBy(requests, ({ key }) => key);
  const rows = [...byKey].map(([key, [first, ...others]]) => ({
    key,
    count: others.length + 1,
    endsAt: new Date((first?.at.getTime() ?? 0) + (first?.windowMs ?? 0)).toISOString(),
  }));
  const at = new Date(Math.max(...requests.map((request) => request.at.getTime()))).toISOString();
  const windows = await countQuery(db).execute({ rows: JSON.stringify(rows), at });
  const countedByKey = new Map(windows.map((window) => [window.key, window]));
  return requests.map((request) => {
    const window = countedByKey.get(request.key);
    const same = byKey.get(request.key);
    if (!window || !same) throw new Error('The upsert of a rate window has returned no row.');
    return { count: window.count - (same.length - 1 - same.indexOf(request)), endsAt: window.endsAt };
  });
}

const at = sql<Date>`${sql.placeholder('at')}::timestamptz`;
const isOpen = sql`${rateWindows.endsAt} > ${at}`;

/** Adds to windows that are open, and begins others. In the order of keys: other processes count the same ones. */
const countQuery = preparedQuery(
  (db) =>
    db
      .insert(rateWindows)
      .select(
        sql`select r.key, r.count, r."endsAt" from json_to_recordset(${sql.placeholder('rows')}::json)
          as r(key text, count int, "endsAt" timestamptz) order by r.key`,
      )
      .onConflictDoUpdate({
        target: rateWindows.key,
        set: {
          count: sql`case when ${isOpen} then ${rateWindows.count} + excluded.count else excluded.count end`,
          endsAt: sql`case when ${isOpen} then ${rateWindows.endsAt} else excluded.ends_at end`,
        },
      })
      .returning({ key: rateWindows.key, count: rateWindows.count, endsAt: rateWindows.endsAt })
      .prepare('count_requests'),
  { connection: 'shared' },
);
