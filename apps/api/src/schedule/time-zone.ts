import { canonicalTimeZone } from '@carillon/contract/validation/time-zone';
import { Temporal } from 'temporal-polyfill';

/** A period in which a zone has one offset. Instants and offsets are milliseconds. */
export interface OffsetPeriod {
  from: number;
  /** Exclusive. */
  until: number;
  offset: number;
  /** The offset before `from`: larger if the clocks went back, smaller if they went forward. */
  previous: number;
}

/** The polyfill finds no later change of offset; `periodAfter` goes on from there. */
const SEARCH_MS = 3 * 365 * 86_400_000;

/** The date and time in a zone. Throws RangeError for an unknown zone. */
export function dateTimeIn(name: string, at: number): Temporal.ZonedDateTime {
  // Temporal caches each spelling for ever, so it only gets the canonical one.
  const zone = canonicalTimeZone(name);
  if (zone === null) throw new RangeError(`Unknown time zone: ${name}`);
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
}

/** The offset of a zone from UTC, in milliseconds. Throws as `dateTimeIn` does. */
export function offsetAt(name: string, at: number): number {
  return dateTimeIn(name, at).offsetNanoseconds / 1e6;
}

/** The rest of the period that contains `at`, as if no change lay before. Throws as `dateTimeIn` does. */
export function periodAt(name: string, at: number): OffsetPeriod {
  const local = dateTimeIn(name, at);
  const offset = local.offsetNanoseconds / 1e6;
  const change = local.getTimeZoneTransition('next');
  return { from: at, until: change?.epochMilliseconds ?? at + SEARCH_MS, offset, previous: offset };
}

export function periodAfter(name: string, period: OffsetPeriod): OffsetPeriod {
  return { ...periodAt(name, period.until), previous: period.offset };
}
