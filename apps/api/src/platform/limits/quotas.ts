import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { AppError, ERROR_MESSAGES } from '../../errors.ts';
import { getPlanLimits, getTrialEnd, type PlanLimits, type PlanRow, planColumnsSql } from './plan-limits.ts';

interface Counter {
  executions: number;
  tokens: number;
  tokensReserved: number;
}

/** Read under lock. Admissions are counted here first; `recordUsage` writes them. */
export interface QuotaAccount {
  userId: number;
  isActive: boolean;
  /** Null for the pro plan and for admins. */
  trialEndsAt: Date | null;
  limits: PlanLimits;
  day: Counter;
  month: Counter;
}

export type QuotaExceeded = { resource: string; used: number | null; limit: number | null; resetAt: string | null };

export const toUtcDay = (at: Date): string => at.toISOString().slice(0, 10);
export const toUtcMonth = (day: string): string => day.slice(0, 7);

interface AccountRow extends PlanRow, Counter {
  userId: number;
  isActive: boolean;
  trialEndsAt: string | null;
  period: string;
}

/** Locks today's counters in a fixed order. Every quota decision holds this lock: no two see the same remainder. */
export async function lockAccounts(db: Db, userIds: readonly number[], now: Date): Promise<Map<number, QuotaAccount>> {
  const day = toUtcDay(now);
  const ids = sql`${`{${[...new Set(userIds)].join(',')}}`}::int[]`;
  // The second statement locks the rows that the first inserts.
  const [, found] = await Promise.all([
    queryRows(
      db,
      sql`
      insert into usage_counters (user_id, period)
      select u.id, p.period from users u, (values (${day}), (${toUtcMonth(day)})) p(period) where u.id = any(${ids})
      order by u.id, p.period on conflict do nothing`,
    ),
    queryRows<AccountRow>(
      db,
      sql`
      select u.id as user_id, u.is_active, u.trial_ends_at, ${planColumnsSql},
        c.period, c.executions, c.tokens::float8 as tokens, c.tokens_reserved::float8 as tokens_reserved
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
      trialEndsAt: getTrialEnd(row),
      limits: getPlanLimits(row),
      day: counter,
      month: counter,
    };
    account[row.period === day ? 'day' : 'month'] = counter;
    accounts.set(row.userId, account);
  }
  return accounts;
}

/** Returns null if the account was deactivated or deleted since the session was found. */
export async function lockActiveAccount(ctx: Pick<Context, 'db' | 'now'>, userId: number) {
  const account = (await lockAccounts(ctx.db, [userId], ctx.now())).get(userId);
  return account?.isActive ? account : null;
}

/** Throws 402 over quota, and counts nothing then; returns the usage for `recordUsage`. */
export function chargeExecution(account: QuotaAccount, now: Date, count = 1) {
  const exceeded = checkQuota(account, now, count);
  if (exceeded) throw quotaExceededError(exceeded);
  account.day.executions += count;
  account.month.executions += count;
  return { userId: account.userId, day: toUtcDay(now), executions: count };
}

/** Counts one more execution, or returns the quota that forbids it. */
export function admitExecution(account: QuotaAccount, now: Date): QuotaExceeded | null {
  const exceeded = checkQuota(account, now);
  if (exceeded) return exceeded;
  account.day.executions += 1;
  account.month.executions += 1;
  return null;
}

/** Returns the quota that forbids so many more executions. Without tokens left, none may start. */
export function checkQuota(account: QuotaAccount, now: Date, count = 1): QuotaExceeded | null {
  const { limits, day, month } = account;
  if (account.trialEndsAt && account.trialEndsAt <= now) {
    return { resource: 'trial', used: null, limit: null, resetAt: null };
  }
  return (
    checkLimit('executions', day.executions, limits.executionsPerDay, nextDay(now), count) ??
    checkLimit('executions', month.executions, limits.executionsPerMonth, nextMonth(now), count) ??
    checkTokenQuota(account, now)
  );
}

export const checkTokenQuota = ({ limits, day, month }: QuotaAccount, now: Date): QuotaExceeded | null =>
  checkLimit('tokens', day.tokens, limits.tokensPerDay, nextDay(now)) ??
  checkLimit('tokens', month.tokens, limits.tokensPerMonth, nextMonth(now));

/** Returns false if used and reserved tokens fill a quota, so that it is exceeded by one call at most. */
export function reserveTokens({ limits, day, month }: QuotaAccount, tokens: number): boolean {
  if (day.tokens + day.tokensReserved >= limits.tokensPerDay) return false;
  if (month.tokens + month.tokensReserved >= limits.tokensPerMonth) return false;
  day.tokensReserved += tokens;
  month.tokensReserved += tokens;
  return true;
}

export function quotaExceededError(exceeded: QuotaExceeded): AppError {
  return new AppError('over_quota', describeExceeded(exceeded), exceeded);
}

function describeExceeded({ resource, used, limit, resetAt }: QuotaExceeded): string {
  if (resource === 'trial') return ERROR_MESSAGES.trialEnded;
  if (resource === 'monthlyBudgetUsd') {
    return `The task has spent $${used} of its monthlyBudgetUsd of $${limit}, and the rest does not cover another run. The next month begins at ${resetAt}.`;
  }
  if (resource === 'activeTasks') return `The quota of ${limit} active tasks is used up: pause or delete one first.`;
  return `The quota of ${limit} ${resource} is used up${resetAt ? ` until ${resetAt}` : ''}.`;
}

const checkLimit = (resource: string, used: number, limit: number, resetAt: Date, count = 1): QuotaExceeded | null =>
  used + count > limit ? { resource, used, limit, resetAt: resetAt.toISOString() } : null;
export const nextDay = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1));
export const nextMonth = (now: Date) => new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
