import { DAY_MS } from '@carillon/contract/primitives';
import { parsePattern } from './pattern.ts';
import { firstOccurrenceAfter, type Occurrence, offsetAt, type Series, type WallTime } from './time-zone.ts';

export interface Schedule {
  /** Runs even if the pattern does not match it. */
  scheduledFor: Date;
  recurrence: 'once' | 'daily' | 'weekly' | 'monthly';
  /** Overrides `recurrence`. */
  recurrencePattern: string | null;
  /** The days, weeks or months from one run to the next; 1 if it is left out, and with a pattern. */
  interval?: number;
  timezone: string;
}

/** Null from the year 10000 on. Throws RangeError or TypeError for an invalid date, time zone or pattern. */
export function nextOccurrence(schedule: Schedule, after: Date): Date | null {
  const found = findOccurrence(schedule, after.getTime());
  return found === null ? null : new Date(found.at);
}

export function findOccurrence(schedule: Schedule, after: number): Occurrence | null {
  const { timezone } = schedule;
  const first = schedule.scheduledFor.getTime();
  if (Number.isNaN(first) || Number.isNaN(after)) throw new RangeError('Invalid date');
  if (after < first) return { at: first, wall: first + offsetAt(timezone, first) };
  const series = buildSeries(schedule);
  return series === null ? null : firstOccurrenceAfter(series, timezone, after);
}

export function buildSeries(schedule: Schedule): Series | null {
  const { scheduledFor, recurrence, recurrencePattern, timezone, interval = 1 } = schedule;
  if (recurrencePattern !== null) return parsePattern(recurrencePattern);
  if (recurrence === 'once') return null;
  const first = scheduledFor.getTime() + offsetAt(timezone, scheduledFor.getTime());
  if (recurrence === 'monthly') return { next: (wall) => nextMonthly(first, wall, interval), firesEveryHour: false };
  const step = interval * (recurrence === 'weekly' ? 7 * DAY_MS : DAY_MS);
  return { next: (wall) => first + Math.max(1, Math.floor((wall - first) / step) + 1) * step, firesEveryHour: false };
}

function nextMonthly(first: WallTime, wall: WallTime, interval: number): WallTime {
  const [begun, reached] = [new Date(first), new Date(wall)];
  const months = (reached.getUTCFullYear() - begun.getUTCFullYear()) * 12 + reached.getUTCMonth() - begun.getUTCMonth();
  const runs = Math.max(1, Math.floor(months / interval));
  const candidate = monthsAfter(first, runs * interval);
  return candidate > wall ? candidate : monthsAfter(first, (runs + 1) * interval);
}

/** Too short months give their last day. */
function monthsAfter(first: WallTime, months: number): WallTime {
  const date = new Date(first);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + months + 1, 0);
  return date.setUTCDate(Math.min(day, date.getUTCDate()));
}
