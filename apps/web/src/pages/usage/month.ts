import type { Texts } from '@carillon/texts';
import type { WebActionData } from '../../actions.ts';

export type Month = WebActionData<'getUsageMonth'>;
export type Quota = Month['executions'];

const DAY_MS = 86_400_000;

/** A UTC month, such as `2026-03`, at a time. */
export interface Period {
  from: Date;
  /** The start of the month after it. */
  until: Date;
  days: number;
  /** `March`, or `March 2025` in another year. */
  name: string;
  isNow: boolean;
}

const ZONE = 'UTC';

/** `March 2026` */
export const nameMonth = ({ formats }: Texts, period: string): string =>
  formats.monthAndYear(new Date(`${period}-01T00:00:00Z`), ZONE);

/** `on 27 March`, in UTC as the quotas. */
export const formatUtcDay = ({ formats }: Texts, at: Date, now: Date): string =>
  formats.dateOn(at, { now, timeZone: ZONE });

export function describePeriod({ formats }: Texts, period: string, now: Date): Period {
  const from = new Date(`${period}-01T00:00:00Z`);
  const until = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  const days = Math.round((until.getTime() - from.getTime()) / DAY_MS);
  const isThisYear = from.getUTCFullYear() === now.getUTCFullYear();
  const name = isThisYear ? formats.month(from, ZONE) : formats.monthAndYear(from, ZONE);
  return { from, until, days, name, isNow: from <= now && now < until };
}

export interface Forecast {
  /** At the present pace, by the end of the month. */
  expected: number;
  /** When the limit is reached; null if it is not in this month. */
  usedUpAt: Date | null;
}

/** What a quota comes to at the pace of the month so far. A pace is not measured in less than a day. */
export function forecast({ used, limit }: Quota, { from, until, days }: Period, now: Date): Forecast {
  if (used >= limit) return { expected: used, usedUpAt: now };
  const perMs = used / Math.max(now.getTime() - from.getTime(), DAY_MS);
  const usedUpAt = perMs > 0 ? now.getTime() + (limit - used) / perMs : Number.POSITIVE_INFINITY;
  const expected = Math.max(used, perMs * days * DAY_MS);
  return { expected, usedUpAt: usedUpAt < until.getTime() ? new Date(usedUpAt) : null };
}
