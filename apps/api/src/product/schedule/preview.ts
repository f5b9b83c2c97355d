import { countRunsLeft, findRun, type Plan } from './next-run.ts';
import { combineDays } from './pattern.ts';
import { buildSeries, findOccurrence, type Schedule } from './recurrence.ts';
import { dateTimeIn, type Occurrence } from './time-zone.ts';

export interface PreviewedOccurrence {
  at: Date;
  /** Such as `2026-03-29T03:30:00+02:00[Europe/Berlin]`. */
  local: string;
  note?: string;
}

/** A note says what moves a run, which pause comes before it, how a pattern combines its days, and that no run follows. */
export function previewOccurrences(plan: Plan, after: Date, count: number): PreviewedOccurrence[] {
  const previewed: PreviewedOccurrence[] = [];
  const runsLeft = countRunsLeft(plan);
  const wanted = Math.min(count, runsLeft);
  let occurrence = wanted > 0 ? findRun(plan, after.getTime()) : null;
  while (occurrence !== null) {
    const next = findRun(plan, occurrence.at);
    const isLast = previewed.length + 1 === runsLeft || next === null;
    const notes = [
      previewed.length === 0 ? describePause(plan, after) : '',
      previewed.length === 0 ? describeDays(plan) : '',
      describeDeviation(plan, occurrence),
      isLast ? describeEnd(plan, occurrence) : '',
    ];
    const note = notes.filter(Boolean).join(' ');
    const local = formatLocal(plan, occurrence.at);
    previewed.push({ at: new Date(occurrence.at), local, ...(note === '' ? {} : { note }) });
    occurrence = previewed.length < wanted ? next : null;
  }
  return previewed;
}

function formatLocal({ timezone }: Schedule, at: number): string {
  return `${dateTimeIn(timezone, at).toString({ timeZoneName: 'never' })}[${timezone}]`;
}

function describePause(plan: Plan, after: Date): string {
  const { pausedUntil = null } = plan;
  const unpaused = pausedUntil === null ? null : findRun({ ...plan, pausedUntil: null }, after.getTime());
  if (pausedUntil === null || unpaused === null || unpaused.at >= pausedUntil.getTime()) return '';
  return `The task is paused until ${formatLocal(plan, pausedUntil.getTime())}.`;
}

function describeDays({ recurrencePattern }: Schedule): string {
  switch (recurrencePattern === null ? null : combineDays(recurrencePattern)) {
    case 'either':
      return 'The pattern fires on days that match the day of the month or the weekday.';
    case 'both':
      return 'The pattern fires on days that match both the day of the month and the weekday.';
    default:
      return '';
  }
}

function describeEnd(plan: Plan, occurrence: Occurrence): string {
  if (findOccurrence(plan, occurrence.at) === null) return '';
  const { endsAt = null, maxRuns = null } = plan;
  if (endsAt !== null && findRun({ ...plan, maxRuns: null }, occurrence.at) === null) {
    return `This is the last run before the task ends at ${formatLocal(plan, endsAt.getTime())}.`;
  }
  return maxRuns === 1 ? 'This is the only planned run.' : `This is the last of ${maxRuns} planned runs.`;
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
