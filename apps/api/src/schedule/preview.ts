import { buildSeries, findOccurrence, type Schedule } from './recurrence.ts';
import { dateTimeIn } from './time-zone.ts';
import type { Occurrence } from './wall-clock.ts';

export interface PreviewedOccurrence {
  at: Date;
  /** Such as `2026-03-29T03:30:00+02:00[Europe/Berlin]`. */
  local: string;
  note?: string;
}

export function previewOccurrences(schedule: Schedule, after: Date, count: number): PreviewedOccurrence[] {
  const previewed: PreviewedOccurrence[] = [];
  let occurrence = count > 0 ? findOccurrence(schedule, after.getTime()) : null;
  while (occurrence !== null) {
    const local = `${dateTimeIn(schedule.timezone, occurrence.at).toString({ timeZoneName: 'never' })}[${schedule.timezone}]`;
    const note = describeDeviation(schedule, occurrence);
    previewed.push({ at: new Date(occurrence.at), local, ...(note === '' ? {} : { note }) });
    occurrence = previewed.length < count ? findOccurrence(schedule, occurrence.at) : null;
  }
  return previewed;
}

function describeDeviation(schedule: Schedule, occurrence: Occurrence): string {
  if (occurrence.at === schedule.scheduledFor.getTime()) return describeFirst(schedule, occurrence);
  return [
    describeMonthEnd(schedule, occurrence),
    describeGap(schedule, occurrence),
    describeOverlap(schedule, occurrence),
  ]
    .filter(Boolean)
    .join(' ');
}

function describeFirst(schedule: Schedule, occurrence: Occurrence): string {
  if (schedule.recurrencePattern === null) return '';
  // A schedule that began a millisecond earlier runs here only if the pattern fires here.
  const begun = { ...schedule, scheduledFor: new Date(occurrence.at - 1) };
  return findOccurrence(begun, occurrence.at - 1)?.at === occurrence.at
    ? ''
    : 'This is the first run. The pattern itself does not fire at this time.';
}

function describeMonthEnd(
  { scheduledFor, recurrence, recurrencePattern, timezone }: Schedule,
  occurrence: Occurrence,
): string {
  if (recurrence !== 'monthly' || recurrencePattern !== null) return '';
  const { day } = dateTimeIn(timezone, scheduledFor.getTime());
  const date = toDate(occurrence.wall);
  return day > Number(date.slice(8)) ? `${date.slice(0, 7)} has no day ${day}, so this runs on its last day.` : '';
}

function describeGap({ timezone }: Schedule, occurrence: Occurrence): string {
  const shown = dateTimeIn(timezone, occurrence.at).toPlainDateTime();
  const [date, time] = [shown.toPlainDate().toString(), shown.toPlainTime().toString({ smallestUnit: 'minute' })];
  if (`${date} ${time}` === `${toDate(occurrence.wall)} ${toTime(occurrence.wall)}`) return '';
  const moved = date === toDate(occurrence.wall) ? time : `${time} on ${date}`;
  return `The clocks go forward past ${toTime(occurrence.wall)} on ${toDate(occurrence.wall)}, so this runs at ${moved}.`;
}

function describeOverlap(schedule: Schedule, occurrence: Occurrence): string {
  const shown = dateTimeIn(schedule.timezone, occurrence.at);
  const passes = (['earlier', 'later'] as const).map(
    (disambiguation) => shown.toPlainDateTime().toZonedDateTime(shown.timeZoneId, { disambiguation }).epochMilliseconds,
  );
  if (passes[0] === passes[1]) return '';
  const rule = buildSeries(schedule)?.firesEveryHour
    ? 'it fires every hour, so it runs both times'
    : 'it runs once, at the first';
  return `The clocks go back, and ${toTime(occurrence.wall)} on ${toDate(occurrence.wall)} comes twice; ${rule}.`;
}

const toDate = (wall: number) => new Date(wall).toISOString().slice(0, 10);
const toTime = (wall: number) => new Date(wall).toISOString().slice(11, 16);
