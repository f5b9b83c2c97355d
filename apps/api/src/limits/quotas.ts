import { type Db, rows, toInstantOrNull } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { AppError } from '../errors.ts';
import { getPlanLimits, type PlanLimits } from './plan-limits.ts';

interface Counter {
  executions: number;
  tokens: number;
  tokensReserved: number;
}

/** A user's standing, read under lock: what is admitted below is counted here first and written by `addUsage`. */
export interface QuotaAccount {
  userId: number;
  isActive: boolean;
  /** Null where no trial ends: the pro plan, and admins. */
  trialEndsAt: Date | null;
  limits: PlanLimits;
  day: Counter;
  month: Counter;
}

/** `details` of a 402 (decisions §4). */
export type QuotaExceeded = { resource: string; used: number | null; limit: number | null; resetAt: string | null };

/** The UTC day of an instant, `YYYY-MM-DD`: the key of the daily quota window. */
export const toUtcDay = (at: Date): string => at.toISOString().slice(0, 10);
/** The UTC month of such a day, `YYYY-MM`: the key of the monthly one. */
export const toUtcMonth = (day: string): string => day.slice(0, 7);

interface AccountRow {
  userId: number;
  isActive: boolean;
  plan: 'trial' | 'pro';
  role: 'USER' | 'ADMIN';
  trialEndsAt: string | null;
  maxTasksPerUser: number;
  maxExecutionsPerDay: number;
  period: string;
  executions: number;
  tokens: number;
  tokensReserved: number;
}

/**
 * Locks the usage counters of `userIds` for today until the transaction ends, always in the same order, and returns
 * each user's account. Whoever decides on a quota holds this lock, so that no two decisions see the same remainder.
 */
export async function lockAccounts(db: Db, userIds: readonly number[], now: Date): Promise<Map<number, QuotaAccount>> {
  const day = toUtcDay(now);
  const ids = sql`${`{${[...new Set(userIds)].join(',')}}`}::int[]`;
  // Sent together: the second finds the rows that the first has made sure of.
  const [, found] = await Promise.all([
    rows(
      db,
      sql`
      insert into usage_counters (user_id, period)
      select u.id, p.period from users u, (values (${day}), (${toUtcMonth(day)})) p(period) where u.id = any(${ids})
      order by u.id, p.period on conflict do nothing`,
    ),
    rows<AccountRow>(
      db,
      sql`
      select u.id as "userId", u.is_active as "isActive", u.plan, u.role, u.trial_ends_at as "trialEndsAt",
        s.max_tasks_per_user as "maxTasksPerUser", s.max_executions_per_day as "maxExecutionsPerDay",
        c.period, c.executions, c.tokens::float8 as tokens, c.tokens_reserved::float8 as "tokensReserved"
      from usage_counters c join users u on u.id = c.user_id cross join settings s
      where c.user_id = any(${ids}) and c.period in (${day}, ${toUtcMonth(day)})
      order by c.user_id, c.period for update of c`,
    ),
  ]);
  const accounts = new Map<number, QuotaAccount>();
  for (const row of found) {
    const { executions, tokens, tokensReserved } = row;
    const counter = { executions, tokens, tokensReserved };
    const account = accounts.get(row.userId) ?? {
      userId: row.userId,
      isActive: row.isActive,
      trialEndsAt: row.plan === 'trial' && row.role !== 'ADMIN' ? toInstantOrNull(row.trialEndsAt) : null,
      limits: getPlanLimits(row, row),
      day: counter,
      month: counter,
    };
    account[row.period === day ? 'day' : 'month'] = counter;
    accounts.set(row.userId, account);
  }
  return accounts;
}

/** What is given back of, or added to, a locked account before it is decided on: `addUsage` writes the same. */
export function applyUsage(
  account: QuotaAccount,
  delta: { day: string; tokens?: number; tokensReserved?: number },
  now: Date,
) {
  const today = toUtcDay(now);
  const counters = [
    ...(delta.day === today ? [account.day] : []),
    ...(toUtcMonth(delta.day) === toUtcMonth(today) ? [account.month] : []),
  ];
  for (const counter of counters) {
    counter.tokens += delta.tokens ?? 0;
    counter.tokensReserved += delta.tokensReserved ?? 0;
  }
}

/** Admits one more execution to a locked account and counts it there, or says which quota refuses it. */
export function admitExecution(account: QuotaAccount, now: Date): QuotaExceeded | null {
  const breach = checkQuota(account, now);
  if (breach) return breach;
  account.day.executions += 1;
  account.month.executions += 1;
  return null;
}

/**
 * The quota that refuses one more execution to an account, or null. Tokens are looked at too: who has used them up
 * starts nothing (decisions §9).
 */
export function checkQuota(account: QuotaAccount, now: Date): QuotaExceeded | null {
  const { limits, day, month } = account;
  if (account.trialEndsAt && account.trialEndsAt <= now) {
    return { resource: 'trial', used: null, limit: null, resetAt: null };
  }
  return (
    full('executions', day.executions, limits.executionsPerDay, nextDay(now)) ??
    full('executions', month.executions, limits.executionsPerMonth, nextMonth(now)) ??
    checkTokenQuota(account, now)
  );
}

/** The quota by which an account has no token left, or null. */
export const checkTokenQuota = ({ limits, day, month }: QuotaAccount, now: Date): QuotaExceeded | null =>
  full('tokens', day.tokens, limits.tokensPerDay, nextDay(now)) ??
  full('tokens', month.tokens, limits.tokensPerMonth, nextMonth(now));

/**
 * Reserves `tokens` for a call that is about to start, unless what is used and reserved already fills a quota: then
 * false, and the call has to wait for the others to settle. So a quota is overshot by one call at most.
 */
export function reserveTokens({ limits, day, month }: QuotaAccount, tokens: number): boolean {
  if (day.tokens + day.tokensReserved >= limits.tokensPerDay) return false;
  if (month.tokens + month.tokensReserved >= limits.tokensPerMonth) return false;
  day.tokensReserved += tokens;
  month.tokensReserved += tokens;
  return true;
}

/** The 402 for a breach. */
export function quotaExceededError(breach: QuotaExceeded): AppError {
  const message =
    breach.resource === 'trial'
      ? 'The trial has ended.'
      : `The quota of ${breach.limit} ${breach.resource} is used up${breach.resetAt ? ` until ${breach.resetAt}` : ''}.`;
  return new AppError('over_quota', message, breach);
}

const full = (resource: string, used: number, limit: number, resetAt: Date): QuotaExceeded | null =>
  used >= limit ? { resource, used, limit, resetAt: resetAt.toISOString() } : null;
const nextDay = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
const nextMonth = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
