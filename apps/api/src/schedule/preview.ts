import { nextRun, type Schedule, seriesOf } from './recurrence.ts';
import { dateTimeIn } from './time-zone.ts';
import type { Run } from './wall-clock.ts';

export interface PreviewedOccurrence {
  at: Date;
  /** The time in the schedule's zone with its offset, e.g. `2026-03-29T03:30:00+02:00[Europe/Berlin]`. */
  local: string;
  /** In words for the user: which rule bent this one. Absent where none did. */
  note?: string;
}

/**
 * The first `count` occurrences of `schedule` strictly after `after`, fewer where the schedule ends (decisions §5,
 * `POST /api/tasks/preview`). Throws as `nextOccurrence` does.
 */
export function previewOccurrences(schedule: Schedule, after: Date, count: number): PreviewedOccurrence[] {
  const previewed: PreviewedOccurrence[] = [];
  let run = count > 0 ? nextRun(schedule, after.getTime()) : null;
  while (run !== null) {
    const local = `${dateTimeIn(schedule.timezone, run.at).toString({ timeZoneName: 'never' })}[${schedule.timezone}]`;
    const note = noteOn(schedule, run);
    previewed.push({ at: new Date(run.at), local, ...(note === '' ? {} : { note }) });
    run = previewed.length < count ? nextRun(schedule, run.at) : null;
  }
  return previewed;
}

function noteOn(schedule: Schedule, run: Run): string {
  if (run.at === schedule.scheduledFor.getTime()) return noteOnFirst(schedule, run);
  return [noteOnMonth(schedule, run), noteOnGap(schedule, run), noteOnOverlap(schedule, run)].filter(Boolean).join(' ');
}

function noteOnFirst(schedule: Schedule, run: Run): string {
  if (schedule.recurrencePattern === null) return '';
  // A schedule that began earlier fires here only if the pattern does, a gap's shift included.
  const begun = { ...schedule, scheduledFor: new Date(run.at - 1) };
  return nextRun(begun, run.at - 1)?.at === run.at
    ? ''
    : 'This is the first run; the pattern alone would not fire here.';
}

function noteOnMonth({ scheduledFor, recurrence, recurrencePattern, timezone }: Schedule, run: Run): string {
  if (recurrence !== 'monthly' || recurrencePattern !== null) return '';
  const { day } = dateTimeIn(timezone, scheduledFor.getTime());
  const date = dateOf(run.wall);
  return day > Number(date.slice(8)) ? `${date.slice(0, 7)} has no day ${day}, so this runs on its last day.` : '';
}

function noteOnGap({ timezone }: Schedule, run: Run): string {
  const shown = dateTimeIn(timezone, run.at).toPlainDateTime();
  const [date, time] = [shown.toPlainDate().toString(), shown.toPlainTime().toString({ smallestUnit: 'minute' })];
  if (`${date} ${time}` === `${dateOf(run.wall)} ${timeOf(run.wall)}`) return '';
  const moved = date === dateOf(run.wall) ? time : `${time} on ${date}`;
  return `The clocks go forward past ${timeOf(run.wall)} on ${dateOf(run.wall)}, so this runs at ${moved}.`;
}

function noteOnOverlap(schedule: Schedule, run: Run): string {
  const shown = dateTimeIn(schedule.timezone, run.at);
  const passes = (['earlier', 'later'] as const).map(
    (disambiguation) => shown.toPlainDateTime().toZonedDateTime(shown.timeZoneId, { disambiguation }).epochMilliseconds,
  );
  if (passes[0] === passes[1]) return '';
  const rule = seriesOf(schedule)?.everyHour
    ? 'it fires every hour, so it runs both times'
    : 'it runs once, at the first';
  return `The clocks go back, and ${timeOf(run.wall)} on ${dateOf(run.wall)} comes twice; ${rule}.`;
}

const dateOf = (wall: number) => new Date(wall).toISOString().slice(0, 10);
const timeOf = (wall: number) => new Date(wall).toISOString().slice(11, 16);
