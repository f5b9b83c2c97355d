import { canonicalTimeZone } from '@carillon/contract/validation/time-zone';
import { Temporal } from 'temporal-polyfill';

/** A stretch of time through which a zone keeps one offset. Instants and offsets are milliseconds. */
export interface Span {
  from: number;
  /** The first instant of the span after it. */
  until: number;
  offset: number;
  /** The offset until `from`; larger than `offset` where the clocks went back, smaller where they went forward. */
  previous: number;
}

// The polyfill looks for a change no further than this; later ones are found when the span is left.
const HORIZON = 3 * 365 * 86_400_000;

/** The date and time in the zone `name` at the instant `at`. Throws RangeError for a name that is none. */
export function dateTimeIn(name: string, at: number): Temporal.ZonedDateTime {
  // Temporal keeps what it is asked for ever, so it is only asked for the one spelling of each zone.
  const zone = canonicalTimeZone(name);
  if (zone === null) throw new RangeError(`Unknown time zone: ${name}`);
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);
}

/** What the zone `name` adds to UTC at the instant `at`, in milliseconds. Throws as `dateTimeIn` does. */
export function offsetAt(name: string, at: number): number {
  return dateTimeIn(name, at).offsetNanoseconds / 1e6;
}

/**
 * The span of the zone `name` that holds the instant `at`. It is cut to begin at `at`, as if no change lay before;
 * `spanAfter` walks on from there. Throws as `dateTimeIn` does.
 */
export function spanAt(name: string, at: number): Span {
  const local = dateTimeIn(name, at);
  const offset = local.offsetNanoseconds / 1e6;
  const change = local.getTimeZoneTransition('next');
  return { from: at, until: change?.epochMilliseconds ?? at + HORIZON, offset, previous: offset };
}

/** The span that follows `span` in the zone `name`. */
export function spanAfter(name: string, span: Span): Span {
  return { ...spanAt(name, span.until), previous: span.offset };
}
