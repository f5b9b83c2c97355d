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

// Bare offsets begin with a sign; a letter beyond ASCII might equal a known name in lower case.
const NAME = /^[a-z][\w+/-]*$/i;
// ICU knows these too, but they are no IANA names, and BST would mean Dhaka.
const ICU_ONLY = /^(?:(?:AC|AE|AG|AR|AS|BE|BS|CA|CN|CS|CT|EA|EC|IE|IS|JS|MI|NE|NS|PL|PN|PR|PS|SS|VS)T|SystemV\/.*)$/i;

// The polyfill looks for a change no further than this; later ones are found when the span is left.
const HORIZON = 3 * 365 * 86_400_000;

// Accepted names only, in lower case: as many as there are zones, whatever is asked.
const accepted = new Map<string, string>();

/**
 * Whether `name` is an IANA time zone name, in any letter case (specification "Task", `timezone`; decisions §5).
 * Bare offsets such as `+05:00` and abbreviations such as `PST` are not.
 */
export function isTimeZone(name: string): boolean {
  return canonicalName(name) !== null;
}

/** The date and time in the zone `name` at the instant `at`. Throws RangeError where `isTimeZone` refuses the name. */
export function dateTimeIn(name: string, at: number): Temporal.ZonedDateTime {
  const zone = canonicalName(name);
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

function canonicalName(name: string): string | null {
  if (!NAME.test(name) || ICU_ONLY.test(name)) return null;
  const key = name.toLowerCase();
  const known = accepted.get(key);
  if (known !== undefined) return known;
  try {
    // Temporal keeps what it is asked for ever, so it is only asked for the one spelling of each zone.
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    accepted.set(key, timeZone);
    return timeZone;
  } catch {
    return null;
  }
}
