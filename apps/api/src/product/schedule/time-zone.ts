import { canonicalTimeZone } from '@carillon/contract/validation/time-zone';
import { LRUCache } from 'lru-cache';
import { Temporal } from 'temporal-polyfill';

/** A period with one offset from UTC. Instants and offsets are milliseconds. */
export interface OffsetPeriod {
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
export interface LocalInstant {
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
