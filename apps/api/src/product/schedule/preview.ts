import { getTexts, type Language } from '@carillon/texts';
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

/**
 * A note says what moves a run, which pause comes before it, how a pattern combines its days, and that no run follows. Without a
 * language it is that of the API: English, with instants as `local` has them.
 */
export function previewOccurrences(
  plan: Plan,
  after: Date,
  count: number,
  language: Language | null = null,
): PreviewedOccurrence[] {
  const words = createWords(plan, language);
  const previewed: PreviewedOccurrence[] = [];
  const runsLeft = countRunsLeft(plan);
  const wanted = Math.min(count, runsLeft);
  let occurrence = wanted > 0 ? findRun(plan, after.getTime()) : null;
  while (occurrence !== null) {
    const next = findRun(plan, occurrence.at);
    const isLast = previewed.length + 1 === runsLeft || next === null;
    const notes = [
      previewed.length === 0 ? describePause(plan, after, words) : '',
      previewed.length === 0 ? describeDays(plan, words) : '',
      describeDeviation(plan, occurrence, words),
      isLast ? describeEnd(plan, occurrence, words) : '',
    ];
    const note = notes.filter(Boolean).join(' ');
    const local = formatLocal(plan, occurrence.at);
    previewed.push({ at: new Date(occurrence.at), local, ...(note === '' ? {} : { note }) });
    occurrence = previewed.length < wanted ? next : null;
  }
  return previewed;
}

type Words = ReturnType<typeof createWords>;

/** `wall` is the time of a clock on the wall, as if it were one in UTC. */
function createWords(plan: Schedule, language: Language | null) {
  const { formats, schedule } = getTexts(language ?? 'en');
  const isApi = language === null;
  return {
    texts: schedule.notes,
    moment: (at: number) => (isApi ? formatLocal(plan, at) : formats.fullMoment(new Date(at), plan.timezone)),
    day: (wall: number) => (isApi ? toDate(wall) : formats.fullDay(new Date(wall), 'UTC')),
    month: (wall: number) => (isApi ? toDate(wall).slice(0, 7) : formats.monthAndYear(new Date(wall), 'UTC')),
  };
}

function formatLocal({ timezone }: Schedule, at: number): string {
  return `${dateTimeIn(timezone, at).toString({ timeZoneName: 'never' })}[${timezone}]`;
}

function describePause(plan: Plan, after: Date, { texts, moment }: Words): string {
  const { pausedUntil = null } = plan;
  const unpaused = pausedUntil === null ? null : findRun({ ...plan, pausedUntil: null }, after.getTime());
  if (pausedUntil === null || unpaused === null || unpaused.at >= pausedUntil.getTime()) return '';
  return texts.pausedUntil(moment(pausedUntil.getTime()));
}

function describeDays({ recurrencePattern }: Schedule, { texts }: Words): string {
  switch (recurrencePattern === null ? null : combineDays(recurrencePattern)) {
    case 'either':
      return texts.eitherDay;
    case 'both':
      return texts.bothDays;
    default:
      return '';
  }
}

function describeEnd(plan: Plan, occurrence: Occurrence, { texts, moment }: Words): string {
  if (findOccurrence(plan, occurrence.at) === null) return '';
  const { endsAt = null, maxRuns = null } = plan;
  if (endsAt !== null && findRun({ ...plan, maxRuns: null }, occurrence.at) === null) {
    return texts.lastBeforeEnd(moment(endsAt.getTime()));
  }
  return texts.lastRun(maxRuns ?? 1);
}

function describeDeviation(schedule: Schedule, occurrence: Occurrence, words: Words): string {
  if (occurrence.at === schedule.scheduledFor.getTime()) return describeFirst(schedule, occurrence, words);
  return [
    describeMonthEnd(schedule, occurrence, words),
    describeGap(schedule, occurrence, words),
    describeOverlap(schedule, occurrence, words),
  ]
    .filter(Boolean)
    .join(' ');
}

function describeFirst(schedule: Schedule, occurrence: Occurrence, { texts }: Words): string {
  if (schedule.recurrencePattern === null) return '';
  // A schedule that began a millisecond earlier runs here only if the pattern fires here.
  const begun = { ...schedule, scheduledFor: new Date(occurrence.at - 1) };
  return findOccurrence(begun, occurrence.at - 1)?.at === occurrence.at ? '' : texts.firstRun;
}

function describeMonthEnd(
  { scheduledFor, recurrence, recurrencePattern, timezone }: Schedule,
  occurrence: Occurrence,
  { texts, month }: Words,
): string {
  if (recurrence !== 'monthly' || recurrencePattern !== null) return '';
  const { day } = dateTimeIn(timezone, scheduledFor.getTime());
  return day > new Date(occurrence.wall).getUTCDate() ? texts.shortMonth(month(occurrence.wall), day) : '';
}

function describeGap({ timezone }: Schedule, occurrence: Occurrence, { texts, day }: Words): string {
  const shown = dateTimeIn(timezone, occurrence.at);
  const actual = Date.parse(`${shown.toPlainDateTime().toString()}Z`);
  const isSameDay = toDate(actual) === toDate(occurrence.wall);
  if (isSameDay && toTime(actual) === toTime(occurrence.wall)) return '';
  const actualDay = isSameDay ? null : day(actual);
  return texts.clocksForward(toTime(occurrence.wall), day(occurrence.wall), toTime(actual), actualDay);
}

function describeOverlap(schedule: Schedule, occurrence: Occurrence, { texts, day }: Words): string {
  const shown = dateTimeIn(schedule.timezone, occurrence.at);
  const passes = (['earlier', 'later'] as const).map(
    (disambiguation) => shown.toPlainDateTime().toZonedDateTime(shown.timeZoneId, { disambiguation }).epochMilliseconds,
  );
  if (passes[0] === passes[1]) return '';
  const runsTwice = buildSeries(schedule)?.firesEveryHour === true;
  return texts.clocksBack(toTime(occurrence.wall), day(occurrence.wall), runsTwice);
}

const toDate = (wall: number) => new Date(wall).toISOString().slice(0, 10);
const toTime = (wall: number) => new Date(wall).toISOString().slice(11, 16);
