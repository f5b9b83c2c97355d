import { DAY_MS } from '@carillon/contract/primitives';
import { canonicalTimeZone } from '@carillon/contract/validation/formats';
import { LRUCache } from 'lru-cache';
import { Temporal } from 'temporal-polyfill';

/** A period with one offset from UTC. Instants and offsets are milliseconds. */
interface OffsetPeriod {
  from: number;
  until: number;
  offset: number;
  previous: number;
}

/** The polyfill finds no change of offset beyond this. */
const SEARCH_MS = 3 * 365 * 86_400_000;

/** Throws RangeError for an unknown zone. */
export function dateTimeIn(name: string, at: number): Temporal.ZonedDateTime {
  // Temporal caches each spelling for ever.
  const zone = canonicalTimeZone(name);
  if (zone === null) throw new RangeError(`Unknown time zone: ${name}`);
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
}

export function offsetAt(name: string, at: number): number {
  return dateTimeIn(name, at).offsetNanoseconds / 1e6;
}

/** Searching for the next change takes 25 µs, and a schedule asks for the same period again and again. */
const latestPeriods = new LRUCache<string, OffsetPeriod>({ max: 1000 });

export function periodAt(name: string, at: number): OffsetPeriod {
  const latest = latestPeriods.get(name);
  if (latest && latest.from <= at && at < latest.until) return { ...latest, from: at };
  const local = dateTimeIn(name, at);
  const offset = local.offsetNanoseconds / 1e6;
  const change = local.getTimeZoneTransition('next');
  const period = { from: at, until: change?.epochMilliseconds ?? at + SEARCH_MS, offset, previous: offset };
  latestPeriods.set(name, period);
  return period;
}

export function periodAfter(name: string, period: OffsetPeriod): OffsetPeriod {
  return { ...periodAt(name, period.until), previous: period.offset };
}

/** The first instant of a day such as `2026-11-20`, or of one so many days later; null if there is no such day. */
export function startOfDay(name: string, day: string, daysLater = 0): Date | null {
  const zone = canonicalTimeZone(name);
  if (zone === null) throw new RangeError(`Unknown time zone: ${name}`);
  try {
    const start = Temporal.PlainDate.from(day).add({ days: daysLater }).toZonedDateTime(zone);
    return new Date(start.epochMilliseconds);
  } catch {
    return null;
  }
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?$/;

/** A local date and time without an offset, as an instant. */
interface LocalInstant {
  at: Date;
  /** `skipped`: clocks never show it. `repeated`: they show it twice. */
  deviation: 'skipped' | 'repeated' | null;
}

/**
 * Reads a local date and time such as `2026-11-27T17:00`; null for any other text. One that comes twice is the first one,
 * one that clocks skip is as much later as they skip. Throws RangeError for an unknown zone.
 */
export function readLocalTime(name: string, text: string): LocalInstant | null {
  const zone = canonicalTimeZone(name);
  if (zone === null) throw new RangeError(`Unknown time zone: ${name}`);
  if (!LOCAL_TIME.test(text)) return null;
  try {
    const local = Temporal.PlainDateTime.from(text, { overflow: 'reject' });
    const [first, last] = (['earlier', 'later'] as const).map((disambiguation) =>
      local.toZonedDateTime(zone, { disambiguation }),
    ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime];
    if (first.epochMilliseconds === last.epochMilliseconds)
      return { at: new Date(first.epochMilliseconds), deviation: null };
    const isRepeated = first.toPlainDateTime().equals(local);
    const chosen = isRepeated ? first : last;
    return { at: new Date(chosen.epochMilliseconds), deviation: isRepeated ? 'repeated' : 'skipped' };
  } catch {
    return null;
  }
}

/** A local date and time, as milliseconds in UTC. */
export type WallTime = number;

export interface Series {
  next: (wall: WallTime) => WallTime | null;
  /** Then it also fires in both passes through a repeated hour. */
  firesEveryHour: boolean;
  /** How often it fires before a minute of a day on which it fires; missing for a series of at most one run a day. */
  countBefore?: (minuteOfDay: number) => number;
}

export interface Occurrence {
  at: number;
  /** The requested time; the clock shows another if it lies in a gap. */
  wall: WallTime;
}

/** The longest change of a clock was the day that Samoa skipped. */
const MAX_CLOCK_CHANGE_MS = DAY_MS;
const MAX_OFFSET_MS = 2 * DAY_MS;
/** JSON clients and PostgreSQL need years of four digits. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** Gaps move a time forward; overlaps repeat hourly series. Throws RangeError for an unknown zone. */
export function firstOccurrenceAfter(series: Series, zone: string, after: number): Occurrence | null {
  if (after >= LAST_INSTANT) return null;
  let period = periodAt(zone, after - MAX_CLOCK_CHANGE_MS);
  while (period.from <= LAST_INSTANT) {
    if (period.until > after) {
      const { occurrence, wall } = firstOccurrenceIn(period, series, after);
      if (occurrence !== null) return occurrence.at <= LAST_INSTANT ? occurrence : null;
      if (wall === null) return null;
      // An hourly series may still fire in an overlap before `wall`: only other series skip periods.
      const near = wall - MAX_OFFSET_MS;
      if (near > period.until + MAX_CLOCK_CHANGE_MS && !series.firesEveryHour) {
        period = periodAt(zone, near);
        continue;
      }
    }
    period = periodAfter(zone, period);
  }
  return null;
}

function firstOccurrenceIn(
  period: OffsetPeriod,
  series: Series,
  after: number,
): { occurrence: Occurrence | null; wall: WallTime | null } {
  const { from, until, offset, previous } = period;
  // The first pass through an overlap belongs to the period before.
  const start = from + (series.firesEveryHour ? offset : Math.max(offset, previous));
  const wall = series.next(Math.max(after + offset, start - 1));
  const plain = wall !== null && wall - offset < until ? { at: wall - offset, wall } : null;
  const moved = offset > previous ? firstOccurrenceInGap(period, series, after) : null;
  return { occurrence: moved !== null && (plain === null || moved.at < plain.at) ? moved : plain, wall };
}

function firstOccurrenceInGap(
  { from, offset, previous }: OffsetPeriod,
  series: Series,
  after: number,
): Occurrence | null {
  const wall = series.next(Math.max(after, from - 1) + previous);
  // By the old offset, a time in the gap comes as long after the change as it lies in the gap.
  return wall !== null && wall < from + offset ? { at: wall - previous, wall } : null;
}
