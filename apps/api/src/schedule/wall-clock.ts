import { DAY_MS } from '@carillon/contract/primitives';
import { type OffsetPeriod, periodAfter, periodAt } from './time-zone.ts';

/** A local date and time as the milliseconds it would be in UTC. It has no zone, gap or overlap. */
export type WallTime = number;

/** The wall times at which something repeats. */
export interface Series {
  /** The first one after `wall`; null if there is none. */
  next: (wall: WallTime) => WallTime | null;
  /** Whether it fires every hour, and so in both passes through a repeated hour. */
  firesEveryHour: boolean;
}

export interface Occurrence {
  at: number;
  /** What the series asks for. The clock shows another time if a gap moved the occurrence. */
  wall: WallTime;
}

/** The longest change there ever was is the day that Samoa skipped. */
const MAX_CLOCK_CHANGE_MS = DAY_MS;
/** No zone is further from UTC than this. */
const MAX_OFFSET_MS = 2 * DAY_MS;
/** The last instant with a year of four digits, which JSON clients and PostgreSQL need. */
const LAST_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The first occurrence strictly after the instant `after`; null if there is none before the year 10000. A time in a gap
 * moves forward by the gap. A time that comes twice counts at the first pass, or at both if the series fires every hour.
 * Throws RangeError for an unknown zone.
 */
export function firstOccurrenceAfter(series: Series, zone: string, after: number): Occurrence | null {
  if (after >= LAST_INSTANT) return null;
  let period = periodAt(zone, after - MAX_CLOCK_CHANGE_MS);
  while (period.from <= LAST_INSTANT) {
    if (period.until > after) {
      const { occurrence, wall } = firstOccurrenceIn(period, series, after);
      if (occurrence !== null) return occurrence.at <= LAST_INSTANT ? occurrence : null;
      if (wall === null) return null;
      // Skips periods far before `wall`. A series that fires every hour may still fire in the second pass of an
      // overlap before it, so it takes every step.
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

/** The first occurrence after `after` in `period`, and the wall time with which the series goes on. */
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

/** The first occurrence after `after` whose wall time lies in the gap at the start of `period`. */
function firstOccurrenceInGap(
  { from, offset, previous }: OffsetPeriod,
  series: Series,
  after: number,
): Occurrence | null {
  const wall = series.next(Math.max(after, from - 1) + previous);
  // With the old offset, a time in the gap comes as long after the change as it lies in the gap.
  return wall !== null && wall < from + offset ? { at: wall - previous, wall } : null;
}
