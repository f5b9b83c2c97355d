import { readPattern } from './pattern.ts';
import { offsetAt } from './time-zone.ts';
import { DAY_MS, firstRunAfter, type Run, type Series, type Wall } from './wall-clock.ts';

/** When a task runs (specification "Task"). */
export interface Schedule {
  /** The first run; always a run itself. */
  scheduledFor: Date;
  recurrence: 'once' | 'daily' | 'weekly' | 'monthly';
  /** Five-field cron expression in the time zone; where present it decides the next runs instead of `recurrence`. */
  recurrencePattern: string | null;
  /** IANA name. */
  timezone: string;
}

/**
 * The first occurrence of `schedule` strictly after `after`, the first run itself included; null when there is none
 * before the year 10000 (decisions §5). It costs the same however long ago the schedule began. Throws RangeError where
 * a date is invalid, TypeError or RangeError where the time zone or the pattern cannot be read.
 */
export function nextOccurrence(schedule: Schedule, after: Date): Date | null {
  const run = nextRun(schedule, after.getTime());
  return run === null ? null : new Date(run.at);
}

/** As `nextOccurrence`, with the wall time that the schedule meant. */
export function nextRun(schedule: Schedule, after: number): Run | null {
  const { timezone } = schedule;
  const first = schedule.scheduledFor.getTime();
  if (Number.isNaN(first) || Number.isNaN(after)) throw new RangeError('Invalid date');
  if (after < first) return { at: first, wall: first + offsetAt(timezone, first) };
  const series = seriesOf(schedule);
  return series === null ? null : firstRunAfter(series, timezone, after);
}

/** The local times at which `schedule` repeats; null for one that does not. */
export function seriesOf({ scheduledFor, recurrence, recurrencePattern, timezone }: Schedule): Series | null {
  if (recurrencePattern !== null) return readPattern(recurrencePattern);
  if (recurrence === 'once') return null;
  const first = scheduledFor.getTime() + offsetAt(timezone, scheduledFor.getTime());
  if (recurrence === 'monthly') return { next: (wall) => nextMonthly(first, wall), everyHour: false };
  const step = recurrence === 'weekly' ? 7 * DAY_MS : DAY_MS;
  return { next: (wall) => first + Math.max(1, Math.floor((wall - first) / step) + 1) * step, everyHour: false };
}

function nextMonthly(first: Wall, wall: Wall): Wall {
  const [begun, reached] = [new Date(first), new Date(wall)];
  const months = (reached.getUTCFullYear() - begun.getUTCFullYear()) * 12 + reached.getUTCMonth() - begun.getUTCMonth();
  const candidate = monthsAfter(first, Math.max(1, months));
  return candidate > wall ? candidate : monthsAfter(first, Math.max(1, months) + 1);
}

/** The time of `first` so many months on, on the month's last day where it has no such day. */
function monthsAfter(first: Wall, months: number): Wall {
  const date = new Date(first);
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + months + 1, 0);
  return date.setUTCDate(Math.min(day, date.getUTCDate()));
}
