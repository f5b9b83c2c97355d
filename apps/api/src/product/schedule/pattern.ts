import { DAY_MS } from '@carillon/contract/primitives';
import { isTimeZone } from '@carillon/contract/validation/formats';
import { Cron, CronDate, CronPattern } from 'croner';
import { LRUCache } from 'lru-cache';
import type { Series, WallTime } from './time-zone.ts';

const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'] as const;
const MAX_LENGTH = 256;
const MINUTES = 60;
/** croner has a bit for each of the five weeks of a month, and one for the last. */
const EVERY_WEEK = 0b111111;
const FIVE_WEEKS = 0b011111;
/** The Gregorian calendar repeats after 400 years, weekdays included. */
const CALENDAR_CYCLE_MS = 146_097 * DAY_MS;
const YEAR_2000 = Date.UTC(2000, 0, 1);

const cache = new LRUCache<string, Series>({ max: 1000 });

/** Returns why the pattern is invalid, or null. Seconds and nicknames such as `@daily` are invalid. */
export function checkPattern(pattern: string, timezone: string): string | null {
  if (pattern.length > MAX_LENGTH) return `A pattern has at most ${MAX_LENGTH} characters.`;
  const fields = pattern.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `A pattern has exactly five fields: ${FIELDS.join(', ')}.`;
  const problem = problems.get(pattern) ?? findProblem(pattern, fields);
  problems.set(pattern, problem);
  if (problem === '' || problem === NEVER_FIRES) {
    if (!isTimeZone(timezone)) return 'The time zone is not an IANA time zone name.';
  }
  return problem || null;
}

/** Those of the latest patterns, empty for a valid one: a check takes half a millisecond. */
const problems = new LRUCache<string, string>({ max: 1000 });

const NEVER_FIRES = 'This pattern never fires.';

function findProblem(pattern: string, fields: readonly string[]): string {
  const wrong = fields.findIndex((field, i) => !isValid(FIELDS.map((_, j) => (i === j ? field : '*')).join(' ')));
  if (wrong !== -1) return `The ${FIELDS[wrong]} field (${fields[wrong]}) is not valid.`;
  return everFires(pattern) ? '' : NEVER_FIRES;
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
  const series = {
    next: (wall: WallTime) => nextMatch(parsed, wall),
    firesEveryHour: parsed.hour.every(Boolean),
    countBefore: (minuteOfDay: number) => countBefore(parsed, minuteOfDay),
  };
  cache.set(pattern, series);
  return series;
}

/** Whether two patterns fire at the same times, however they are written. */
export const isSamePattern = (a: string, b: string): boolean =>
  a === b || (isValid(a) && isValid(b) && JSON.stringify(toTimes(parse(a))) === JSON.stringify(toTimes(parse(b))));

function toTimes(parsed: CronPattern) {
  const { days, weekdays, isEither } = toDays(parsed);
  const isRestricted = isEither ? days !== null && weekdays !== null : days !== null || weekdays !== null;
  return [parsed.minute, parsed.hour, parsed.month, isRestricted && [days, weekdays, isEither]];
}

/** Whether a day must match the day of the month or the weekday, or both; null if at most one of them counts. */
export function combineDays(pattern: string): 'either' | 'both' | null {
  const { days, weekdays, isEither } = toDays(parse(pattern));
  if (days === null && weekdays === null) return null;
  if (isEither) return 'either';
  return days !== null && weekdays !== null ? 'both' : null;
}

function toDays(parsed: CronPattern) {
  const { day, lastDayOfMonth, lastWeekday, nearestWeekdays } = parsed;
  const weeks = parsed.dayOfWeek.map((one) => ((one & FIVE_WEEKS) === FIVE_WEEKS ? EVERY_WEEK : one));
  const days = day.every(Boolean) ? null : [day, lastDayOfMonth, lastWeekday, nearestWeekdays];
  const weekdays = weeks.every((one) => one === EVERY_WEEK) ? null : weeks;
  return { days, weekdays, isEither: !parsed.useAndLogic };
}

/** As in crontab(5), days of the month and weekdays mean either, but both where one of the fields begins with `*`. */
const hasStar = (pattern: string): boolean => {
  const [, , day = '', , weekday = ''] = pattern.trim().split(/\s+/);
  return /^[*?]/.test(day) || /^[*?]/.test(weekday);
};

function parse(pattern: string): CronPattern {
  const parsed = new CronPattern(pattern, undefined, { mode: '5-part' });
  parsed.useAndLogic ||= hasStar(pattern);
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

function countBefore({ hour, minute }: CronPattern, minuteOfDay: number): number {
  const reached = Math.floor(minuteOfDay / MINUTES);
  const count = (marks: readonly number[], end: number) => marks.slice(0, end).filter(Boolean).length;
  const inHour = hour[reached] ? count(minute, minuteOfDay % MINUTES) : 0;
  return count(hour, reached) * count(minute, MINUTES) + inHour;
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
  const cron = new Cron(`0 ${pattern} 2000-2027`, { mode: '7-part', utcOffset: 0, domAndDow: hasStar(pattern) });
  return cron.nextRun(new Date(YEAR_2000 - 1)) !== null;
}
