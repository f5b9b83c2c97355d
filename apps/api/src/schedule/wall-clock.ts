import { type Span, spanAfter, spanAt } from './time-zone.ts';

/** A local date and time as the milliseconds it would be in UTC. It knows no zone, no gap and no overlap. */
export type Wall = number;

/** The local times that something repeats at, before any zone bends them. */
export interface Series {
  /** The first one after `wall`; null when none is left. */
  next: (wall: Wall) => Wall | null;
  /** Whether it keeps to the passing of time, so that both passes through a repeated hour count. */
  everyHour: boolean;
}

export interface Run {
  at: number;
  /** What the series says; the clock shows another time where a gap moved the run. */
  wall: Wall;
}

export const DAY_MS = 86_400_000;
// Samoa's skipped day is the longest change there is; what it moved or repeated is behind us after as long.
const LONGEST_CHANGE = DAY_MS;
// No two zones are further apart, so a wall time cannot be nearer than this to an instant of the same number.
const WIDEST_OFFSET = 2 * DAY_MS;
/** The last instant that JSON clients and PostgreSQL write with a year of four digits. */
const LAST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The first run strictly after the instant `after`, by the rules of decisions §5: a time that a gap leaves out moves
 * forward by the gap, a time that comes twice counts once, at the first (both times where the series fires every
 * hour). Null when there is none before the year 10000. Throws RangeError where the zone is unknown.
 */
export function firstRunAfter(series: Series, zone: string, after: number): Run | null {
  if (after >= LAST) return null;
  let span = spanAt(zone, after - LONGEST_CHANGE);
  while (span.from <= LAST) {
    if (span.until > after) {
      const { run, wall } = firstRunIn(span, series, after);
      if (run !== null) return run.at <= LAST ? run : null;
      if (wall === null) return null;
      // What fires every hour may have times of the next overlap that lie before `wall`, so it takes every step; for
      // the others those times are used up, so the overlap has to be over.
      const near = wall - WIDEST_OFFSET;
      if (near > span.until + LONGEST_CHANGE && !series.everyHour) {
        span = spanAt(zone, near);
        continue;
      }
    }
    span = spanAfter(zone, span);
  }
  return null;
}

/** The first run after `after` that falls in `span`, and the wall time that the series goes on with. */
function firstRunIn(span: Span, series: Series, after: number): { run: Run | null; wall: Wall | null } {
  const { from, until, offset, previous } = span;
  // The first pass through an overlap belongs to the span before, and used its wall times up.
  const begins = from + (series.everyHour ? offset : Math.max(offset, previous));
  const wall = series.next(Math.max(after + offset, begins - 1));
  const plain = wall !== null && wall - offset < until ? { at: wall - offset, wall } : null;
  const moved = offset > previous ? firstMoved(span, series, after) : null;
  return { run: moved !== null && (plain === null || moved.at < plain.at) ? moved : plain, wall };
}

/** The first run after `after` whose wall time the gap at the start of `span` leaves out. */
function firstMoved({ from, offset, previous }: Span, series: Series, after: number): Run | null {
  const wall = series.next(Math.max(after, from - 1) + previous);
  // Read with the old offset, a time in the gap lies as far behind the change as it lay in the gap.
  return wall !== null && wall < from + offset ? { at: wall - previous, wall } : null;
}
