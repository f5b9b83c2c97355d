import { isTimeZone } from '@carillon/contract/validation/time-zone';
import { Cron, CronDate, CronPattern } from 'croner';
import { DAY_MS, type Series, type Wall } from './wall-clock.ts';

const FIELDS = ['minute', 'hour', 'day of month', 'month', 'day of week'] as const;
/** A list of all sixty minutes and more fits. */
const LONGEST = 256;
const KEPT = 1000;
// croner keeps a bit for each week of the month, and one for the last.
const EVERY_WEEK = 0b111111;
// The Gregorian calendar repeats after 400 years, to the weekday.
const CALENDAR_CYCLE_MS = 146_097 * DAY_MS;
const YEAR_2000 = Date.UTC(2000, 0, 1);

const read = new Map<string, Series>();

/**
 * Why `pattern` cannot be a task's recurrence pattern in `timezone`, in words for the user; null when it can
 * (decisions §5). It has exactly five fields, no seconds and no nicknames such as `@daily`; beside the standard signs
 * it may use what croner documents: names, `?`, `L`, `W`, `#` and a leading `+` that joins weekday and day of month
 * with "and". Day of month and day of week are otherwise joined with "or", as cron does.
 */
export function checkPattern(pattern: string, timezone: string): string | null {
  if (pattern.length > LONGEST) return `A pattern has at most ${LONGEST} characters.`;
  const fields = pattern.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `A pattern has exactly five fields: ${FIELDS.join(', ')}.`;
  const wrong = fields.findIndex((field, i) => !isReadable(FIELDS.map((_, j) => (i === j ? field : '*')).join(' ')));
  if (wrong !== -1) return `The ${FIELDS[wrong]} field (${fields[wrong]}) is not valid.`;
  if (!isTimeZone(timezone)) return 'The time zone is not an IANA time zone name.';
  return everFires(pattern) ? null : 'This pattern never fires.';
}

/**
 * The word nearest to what `pattern` does (decisions §5): `monthly` when it restricts the day of month, be it by an
 * n-th weekday, else `weekly` when it restricts the weekday, else `daily`. Throws as `readPattern` does.
 */
export function nearestRecurrence(pattern: string): 'daily' | 'weekly' | 'monthly' {
  const { day, dayOfWeek } = parse(pattern);
  const isNth = (weeks: number) => weeks !== 0 && weeks !== EVERY_WEEK;
  if (!day.every(Boolean) || dayOfWeek.some(isNth)) return 'monthly';
  return dayOfWeek.every(Boolean) ? 'daily' : 'weekly';
}

/** The local times at which `pattern` fires. Throws TypeError or RangeError where it cannot be read. */
export function readPattern(pattern: string): Series {
  const known = read.get(pattern);
  if (known !== undefined) return known;
  const parsed = parse(pattern);
  const series = { next: (wall: Wall) => nextMatch(parsed, wall), everyHour: parsed.hour.every(Boolean) };
  const [oldest] = read.size < KEPT ? [] : read.keys();
  if (oldest !== undefined) read.delete(oldest);
  read.set(pattern, series);
  return series;
}

function parse(pattern: string): CronPattern {
  const parsed = new CronPattern(pattern, undefined, { mode: '5-part' });
  // Ten thousand entries that a pattern without a year field never looks at; a thousand patterns are kept.
  parsed.year = [];
  return parsed;
}

/** croner reads the pattern and the calendar only, in UTC, where it has no change of clocks to get wrong. */
function nextMatch(parsed: CronPattern, wall: Wall): Wall | null {
  // It gives up at the year 3000, so it searches the same days of the cycle that begins in 2000.
  const shift = Math.floor((wall - YEAR_2000) / CALENDAR_CYCLE_MS) * CALENDAR_CYCLE_MS;
  const match = new CronDate(new Date(wall - shift), 0).increment(parsed, {}, false);
  return match === null ? null : match.getTime() + shift;
}

function isReadable(pattern: string): boolean {
  try {
    parse(pattern);
    return true;
  } catch {
    return false;
  }
}

/** These 28 years hold every kind of year: leap or not, begun on each weekday. A search of all 400 takes too long. */
function everFires(pattern: string): boolean {
  const cron = new Cron(`0 ${pattern} 2000-2027`, { mode: '7-part', utcOffset: 0 });
  return cron.nextRun(new Date(YEAR_2000 - 1)) !== null;
}
