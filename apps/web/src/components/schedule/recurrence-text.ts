import type { Texts } from '@carillon/texts';

/** A schedule that can be said in words. Days of the week are 1 (Monday) to 7 (Sunday). */
export type Recurrence =
  /** Every `minutes` minutes, which divide an hour. */
  | { every: 'minute'; minutes: number }
  /** Every `hours` hours, which divide a day, at this minute; with `between` in each hour from the first to the last. */
  | { every: 'hour'; hours: number; minute: number; between?: { from: number; until: number } }
  | { every: 'day'; hour: number; minute: number }
  | { every: 'week'; days: readonly number[]; hour: number; minute: number }
  /** `inShortMonths` says whether it runs on the last day of a month without this day, or not at all. */
  | { every: 'month'; day: number | 'last'; inShortMonths: boolean; hour: number; minute: number }
  /** On a day of each `months`-th month of a year. The fields of the form do not have it. */
  | { every: 'months'; months: number; day: number | 'last'; hour: number; minute: number }
  | { every: 'once' };

/** What a task says about its schedule. */
export interface TaskSchedule {
  scheduledFor: string;
  recurrence: 'once' | 'daily' | 'weekly' | 'monthly';
  recurrencePattern: string | null;
  interval?: number | undefined;
  timezone: string;
}

const SHORTEST_MONTH = 28;
const MONTHS_OF_YEAR = 12;
const WORKDAYS = [1, 2, 3, 4, 5];
const WEEKEND = [6, 7];

/** The words of a valid pattern of five fields; null if they would say less or more than the pattern. */
export function parseCron(pattern: string): Recurrence | null {
  const fields = pattern.trim().split(/\s+/);
  const [minuteField = '', hourField = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== 5) return null;
  if (month !== '*') return weekday === '*' ? parseMonths(minuteField, hourField, day, month) : null;
  if (day === '*' && weekday === '*' && hourField === '*') {
    const minutes = readStep(minuteField, 60);
    if (minutes !== null) return { every: 'minute', minutes };
  }
  const minute = readNumber(minuteField, 0, 59);
  if (minute === null) return null;
  if (day === '*' && weekday === '*') {
    const hours = readStep(hourField, 24);
    if (hours !== null) return { every: 'hour', hours, minute };
    const between = readRange(hourField);
    if (between) return { every: 'hour', hours: 1, minute, between };
  }
  const hour = readNumber(hourField, 0, 23);
  return hour === null ? null : readDays(day, weekday, { hour, minute });
}

/** Days that each month has, in months that are equally far apart. */
function parseMonths(minuteField: string, hourField: string, dayField: string, month: string): Recurrence | null {
  const [minute, hour] = [readNumber(minuteField, 0, 59), readNumber(hourField, 0, 23)];
  const months = readStep(month, MONTHS_OF_YEAR);
  const day = dayField.toUpperCase() === 'L' ? 'last' : readNumber(dayField, 1, SHORTEST_MONTH);
  if (minute === null || hour === null || months === null || months === 1 || day === null) return null;
  return { every: 'months', months, day, hour, minute };
}

function readDays(day: string, weekday: string, time: { hour: number; minute: number }): Recurrence | null {
  if (day === '*') {
    const days = weekday === '*' ? [...WORKDAYS, ...WEEKEND] : readWeekdays(weekday);
    if (days === null) return null;
    return days.length === 7 ? { every: 'day', ...time } : { every: 'week', days, ...time };
  }
  if (weekday !== '*') return null;
  if (day.toUpperCase() === 'L') return { every: 'month', day: 'last', inShortMonths: true, ...time };
  const number = readNumber(day, 1, 31);
  return number === null ? null : { every: 'month', day: number, inShortMonths: number <= SHORTEST_MONTH, ...time };
}

function readNumber(field: string, min: number, max: number): number | null {
  const number = /^\d{1,2}$/.test(field) ? Number(field) : Number.NaN;
  return number >= min && number <= max ? number : null;
}

/** The step of `*` or `*\/6`, if it divides the whole: otherwise the last interval is shorter. */
function readStep(field: string, whole: number): number | null {
  if (field === '*') return 1;
  const step = field.startsWith('*/') ? readNumber(field.slice(2), 1, whole - 1) : null;
  return step !== null && whole % step === 0 ? step : null;
}

function readRange(field: string): { from: number; until: number } | null {
  const [first = '', last = '', ...rest] = field.split('-');
  const [from, until] = [readNumber(first, 0, 23), readNumber(last, 0, 23)];
  return rest.length === 0 && from !== null && until !== null && from < until ? { from, until } : null;
}

const SHORT_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

function readWeekday(text: string): number | null {
  const named = SHORT_NAMES.indexOf(text.toUpperCase());
  return named === -1 ? readNumber(text, 0, 7) : named;
}

function readWeekdays(field: string): number[] | null {
  const days = new Set<number>();
  for (const part of field.split(',')) {
    const [first = '', last = first, ...rest] = part.split('-');
    const [from, until] = [readWeekday(first), readWeekday(last)];
    if (rest.length > 0 || from === null || until === null || from > until) return null;
    for (let day = from; day <= until; day += 1) days.add(day === 0 ? 7 : day);
  }
  return [...days].sort((a, b) => a - b);
}

/** The words of a task's schedule, by the clock of its time zone. */
export function toRecurrence({
  scheduledFor,
  recurrence,
  recurrencePattern,
  timezone,
}: TaskSchedule): Recurrence | null {
  if (recurrencePattern !== null) return parseCron(recurrencePattern);
  if (recurrence === 'once') return { every: 'once' };
  const { day, weekday, hour, minute } = readClock(new Date(scheduledFor), timezone);
  if (recurrence === 'daily') return { every: 'day', hour, minute };
  if (recurrence === 'weekly') return { every: 'week', days: [weekday], hour, minute };
  return { every: 'month', day, inShortMonths: true, hour, minute };
}

const CLOCK = { weekday: 'short', day: 'numeric', hour: 'numeric', minute: 'numeric', hourCycle: 'h23' } as const;
/** By time zone, because making one takes far longer than using it. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function readClock(at: Date, timeZone: string) {
  const clock = clocks.get(timeZone) ?? new Intl.DateTimeFormat('en', { timeZone, ...CLOCK });
  clocks.set(timeZone, clock);
  const parts = clock.formatToParts(at);
  const read = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  const weekday = SHORT_NAMES.indexOf(read('weekday').toUpperCase()) || 7;
  return { day: Number(read('day')), weekday, hour: Number(read('hour')), minute: Number(read('minute')) };
}

/** Such as `Weekdays at 17:30`. */
export function describeRecurrence(words: Recurrence, { schedule }: Texts): string {
  switch (words.every) {
    case 'minute':
      return schedule.everyMinutes(words.minutes);
    case 'hour':
      return describeHours(words, schedule);
    case 'day':
      return schedule.everyDay(formatClock(words));
    case 'week':
      return describeWeekdays(words, schedule);
    case 'month':
      return describeDay(words, schedule);
    case 'months':
      return describeMonths(words.months, words, schedule);
    case 'once':
      return schedule.once;
  }
}

/** The schedule of a task in the same words; null for a pattern that has none. */
export function describeSchedule(task: TaskSchedule, texts: Texts): string | null {
  const { schedule } = texts;
  const words = toRecurrence(task);
  const { interval = 1 } = task;
  if (words === null) return null;
  if (interval > 1) {
    if (words.every === 'day') return schedule.everyDays(interval, formatClock(words));
    if (words.every === 'week') return schedule.everyWeeks(interval, describeRecurrence(words, texts));
    if (words.every === 'month') return describeMonths(interval, words, schedule);
  }
  return describeRecurrence(words, texts);
}

/** Whether the words alone say when each run is, without a calendar. */
export const isRegular = (words: Recurrence, interval = 1): boolean =>
  words.every === 'minute' || words.every === 'hour' || (words.every === 'day' && interval === 1);

type ScheduleTexts = Texts['schedule'];

function describeHours(
  { hours, minute, between }: Extract<Recurrence, { every: 'hour' }>,
  schedule: ScheduleTexts,
): string {
  if (between) {
    const [from, until] = [between.from, between.until].map((hour) => formatClock({ hour, minute }));
    return schedule.everyHourBetween(from ?? '', until ?? '');
  }
  return minute === 0 ? schedule.everyHours(hours) : schedule.everyHoursAt(hours, minute);
}

function describeWeekdays({ days, ...time }: Extract<Recurrence, { every: 'week' }>, schedule: ScheduleTexts): string {
  const isSame = (others: readonly number[]) =>
    days.length === others.length && days.every((day) => others.includes(day));
  if (isSame(WORKDAYS)) return schedule.weekdays(formatClock(time));
  if (isSame(WEEKEND)) return schedule.weekends(formatClock(time));
  return schedule.onDays(days, formatClock(time));
}

function describeDay(
  { day, inShortMonths, ...time }: Extract<Recurrence, { every: 'month' }>,
  schedule: ScheduleTexts,
): string {
  const at = formatClock(time);
  if (day === 'last' || (day === 31 && inShortMonths)) return schedule.monthlyLast(at);
  if (day <= SHORTEST_MONTH) return schedule.monthly(day, at);
  return inShortMonths ? schedule.monthlyOrLast(day, at) : schedule.longMonths(day, at);
}

function describeMonths(
  months: number,
  { day, ...time }: Pick<Extract<Recurrence, { every: 'months' }>, 'day' | 'hour' | 'minute'>,
  schedule: ScheduleTexts,
): string {
  const at = formatClock(time);
  if (day === 'last' || day === 31) return schedule.everyMonthsLast(months, at);
  return day <= SHORTEST_MONTH ? schedule.everyMonths(months, day, at) : schedule.everyMonthsOrLast(months, day, at);
}

const formatClock = ({ hour, minute }: { hour: number; minute: number }): string =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
