import { DAY_MS } from '@carillon/contract/primitives';
import { type OffsetPeriod, periodAfter, periodAt } from './time-zone.ts';

/** A local date and time, as milliseconds in UTC. */
export type WallTime = number;

export interface Series {
  next: (wall: WallTime) => WallTime | null;
  /** Then it also fires in both passes through a repeated hour. */
  firesEveryHour: boolean;
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
