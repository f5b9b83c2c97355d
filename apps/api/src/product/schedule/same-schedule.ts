import { canonicalTimeZone } from '@carillon/contract/validation/formats';
import { isSamePattern } from './pattern.ts';
import type { Schedule } from './recurrence.ts';
import { offsetAt } from './time-zone.ts';

const SHORTEST_MONTH = 28;
const MINUTE_MS = 60_000;

/** Whether two schedules have the same runs, however their zones and patterns are written. */
export function isSameSchedule(a: Schedule, b: Schedule): boolean {
  if (a.scheduledFor.getTime() !== b.scheduledFor.getTime()) return false;
  // A single run is an instant, the same in every time zone.
  if (isOnce(a) || isOnce(b)) return isOnce(a) && isOnce(b);
  if (!isSameZone(a.timezone, b.timezone)) return false;
  const isSameInterval = (a.interval ?? 1) === (b.interval ?? 1);
  if (isSameInterval && a.recurrence === b.recurrence && a.recurrencePattern === b.recurrencePattern) return true;
  const [one, other] = [toPattern(a), toPattern(b)];
  return one !== null && other !== null && isSamePattern(one, other);
}

const isOnce = ({ recurrence, recurrencePattern }: Schedule) => recurrence === 'once' && recurrencePattern === null;

const isSameZone = (a: string, b: string) => a === b || canonicalTimeZone(a) === canonicalTimeZone(b);

/** The pattern of a recurrence; null if no pattern says it. */
function toPattern({ scheduledFor, recurrence, recurrencePattern, interval = 1, timezone }: Schedule): string | null {
  if (recurrencePattern !== null) return recurrencePattern;
  if (interval !== 1) return null;
  const first = scheduledFor.getTime() + offsetAt(timezone, scheduledFor.getTime());
  if (first % MINUTE_MS !== 0) return null;
  const wall = new Date(first);
  const time = `${wall.getUTCMinutes()} ${wall.getUTCHours()}`;
  if (recurrence === 'daily') return `${time} * * *`;
  if (recurrence === 'weekly') return `${time} * * ${wall.getUTCDay()}`;
  if (wall.getUTCDate() === 31) return `${time} L * *`;
  return wall.getUTCDate() <= SHORTEST_MONTH ? `${time} ${wall.getUTCDate()} * *` : null;
}
