import { DAY_MS } from '@carillon/contract/primitives';
import { isTimeZone } from '@carillon/contract/validation/time-zone';
import { Cron, CronDate, CronPattern } from 'croner';
import { LRUCache } from 'lru-cache';
import type { Series, WallTime } from './wall-clock.ts';

const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'] as const;
/** Long enough for a list of all sixty minutes. */
const MAX_LENGTH = 256;
/** croner has a bit for each week of the month, and one for the last. */
const EVERY_WEEK = 0b111111;
/** The Gregorian calendar repeats after 400 years, to the weekday. */
const CALENDAR_CYCLE_MS = 146_097 * DAY_MS;
const YEAR_2000 = Date.UTC(2000, 0, 1);

const cache = new LRUCache<string, Series>({ max: 1000 });

/**
 * Says why a task cannot have this recurrence pattern; null if it can. Valid are five fields, without seconds and
 * nicknames such as `@daily`, in the syntax of croner: names, `?`, `L`, `W`, `#`, and a leading `+` that joins weekday
 * and day of month with "and" instead of cron's "or".
 */
export function checkPattern(pattern: string, timezone: string): string | null {
  if (pattern.length > MAX_LENGTH) return `A pattern has at most ${MAX_LENGTH} characters.`;
  const fields = pattern.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `A pattern has exactly five fields: ${FIELDS.join(', ')}.`;
  const wrong = fields.findIndex((field, i) => !isValid(FIELDS.map((_, j) => (i === j ? field : '*')).join(' ')));
  if (wrong !== -1) return `The ${FIELDS[wrong]} field (${fields[wrong]}) is not valid.`;
  if (!isTimeZone(timezone)) return 'The time zone is not an IANA time zone name.';
  return everFires(pattern) ? null : 'This pattern never fires.';
}

/**
 * The recurrence nearest to a pattern: `monthly` if it restricts the day of the month or names an n-th weekday, `weekly`
 * if it restricts the weekday, else `daily`. Throws as `parsePattern` does.
 */
export function nearestRecurrence(pattern: string): 'daily' | 'weekly' | 'monthly' {
  const { day, dayOfWeek } = parse(pattern);
  const isNth = (weeks: number) => weeks !== 0 && weeks !== EVERY_WEEK;
  if (!day.every(Boolean) || dayOfWeek.some(isNth)) return 'monthly';
  return dayOfWeek.every(Boolean) ? 'daily' : 'weekly';
}

/** The wall times at which a pattern fires. Throws TypeError or RangeError if it is not valid. */
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
  // Ten thousand entries that a pattern without a year field does not use; the cache has a thousand patterns.
  parsed.year = [];
  return parsed;
}

/** croner computes in UTC, where the clocks never change. */
function nextMatch(parsed: CronPattern, wall: WallTime): WallTime | null {
  // croner stops at the year 3000, so it searches the same days of the cycle that begins in 2000.
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

/** 28 years have every kind of year: leap or not, starting on each weekday. Searching all 400 takes too long. */
function everFires(pattern: string): boolean {
  const cron = new Cron(`0 ${pattern} 2000-2027`, { mode: '7-part', utcOffset: 0 });
  return cron.nextRun(new Date(YEAR_2000 - 1)) !== null;
}
