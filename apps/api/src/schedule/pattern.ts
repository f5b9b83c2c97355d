import { DAY_MS } from '@carillon/contract/primitives';
import { isTimeZone } from '@carillon/contract/validation/time-zone';
import { Cron, CronDate, CronPattern } from 'croner';
import { LRUCache } from 'lru-cache';
import type { Series, WallTime } from './wall-clock.ts';

const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'] as const;
const MAX_LENGTH = 256;
/** croner has a bit for each of the five weeks of a month, and one for the last. */
const EVERY_WEEK = 0b111111;
/** The Gregorian calendar repeats after 400 years, weekdays included. */
const CALENDAR_CYCLE_MS = 146_097 * DAY_MS;
const YEAR_2000 = Date.UTC(2000, 0, 1);

const cache = new LRUCache<string, Series>({ max: 1000 });

/** Returns why the pattern is invalid, or null. Seconds and nicknames such as `@daily` are invalid. */
export function checkPattern(pattern: string, timezone: string): string | null {
  if (pattern.length > MAX_LENGTH) return `A pattern has at most ${MAX_LENGTH} characters.`;
  const fields = pattern.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `A pattern has exactly five fields: ${FIELDS.join(', ')}.`;
  const wrong = fields.findIndex((field, i) => !isValid(FIELDS.map((_, j) => (i === j ? field : '*')).join(' ')));
  if (wrong !== -1) return `The ${FIELDS[wrong]} field (${fields[wrong]}) is not valid.`;
  if (!isTimeZone(timezone)) return 'The time zone is not an IANA time zone name.';
  return everFires(pattern) ? null : 'This pattern never fires.';
}

/** `monthly` if it restricts days of the month or n-th weekdays, `weekly` if weekdays, else `daily`. */
export function nearestRecurrence(pattern: string): 'daily' | 'weekly' | 'monthly' {
  const { day, dayOfWeek } = parse(pattern);
  const isNth = (weeks: number) => weeks !== 0 && weeks !== EVERY_WEEK;
  if (!day.every(Boolean) || dayOfWeek.some(isNth)) return 'monthly';
  return dayOfWeek.every(Boolean) ? 'daily' : 'weekly';
}

/** Throws TypeError or RangeError for an invalid pattern. */
export function parsePattern(pattern: string): Series {
  const cached = cache.get(pattern);
  if (cached) return cached;
  const parsed = parse(pattern);
  const series = { next: (wall: WallTime) => nextMatch(parsed, wall), firesEveryHour: parsed.hour.every(Boolean) };
  cache.set(pattern, series);
  return series;
}

function parse(pattern: string): CronPattern {
  const parsed = new CronPattern(pattern, undefined, { mode: '5-part' });
  // Frees ten thousand unused entries: the cache has a thousand patterns.
  parsed.year = [];
  return parsed;
}

function nextMatch(parsed: CronPattern, wall: WallTime): WallTime | null {
  // croner stops at the year 3000: the search moves into the cycle that begins in 2000.
  const shift = Math.floor((wall - YEAR_2000) / CALENDAR_CYCLE_MS) * CALENDAR_CYCLE_MS;
  const match = new CronDate(new Date(wall - shift), 0).increment(parsed, {}, false);
  return match === null ? null : match.getTime() + shift;
}

function isValid(pattern: string): boolean {
  try {
    parse(pattern);
    return true;
  } catch {
    return false;
  }
}

/** 28 years have every kind of year (leap or not, by first weekday); searching all 400 takes too long. */
function everFires(pattern: string): boolean {
  const cron = new Cron(`0 ${pattern} 2000-2027`, { mode: '7-part', utcOffset: 0 });
  return cron.nextRun(new Date(YEAR_2000 - 1)) !== null;
}
