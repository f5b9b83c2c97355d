import type { Texts } from '@carillon/texts';

/** A schedule that can be said in words. Days of the week are 1 (Monday) to 7 (Sunday). */
export type Recurrence =
  /** Every `minutes` minutes, which divide an hour. */
  | { every: 'minute'; minutes: number }
  /** Every `hours` hours, which divide a day, at this minute; with `between` in each hour from the first to the last. */
  | { every: 'hour'; hours: number; minute: number; between?: { from: number; until: number } }
  /** `again` is a later hour of the same day. With an `interval` it is each n-th day, week or month from the first run. */
  | ({ every: 'day'; again?: number; interval?: number } & Time)
  | ({ every: 'week'; days: readonly number[]; again?: number; interval?: number } & Time)
  /** `inShortMonths` says whether it runs on the last day of a month without this day, or not at all. */
  | ({ every: 'month'; day: number | 'last'; inShortMonths: boolean; interval?: number } & Time)
  | ({ every: 'month-weekday'; nth: number | 'last'; weekday: number } & Time)
  /** On a day of each `months`-th month of a year. The fields of the form do not have it. */
  | ({ every: 'months'; months: number; day: number | 'last' } & Time)
  | ({ every: 'year'; month: number; day: number } & Time)
  | { every: 'once' };

interface Time {
  hour: number;
  minute: number;
}

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
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
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
  const hours = readHours(hourField);
  return hours === null ? null : readDays(day, weekday, { minute, ...hours });
}

/** An hour, or two in order. */
function readHours(field: string): { hour: number; again?: number } | null {
  const [hour, again, ...rest] = field.split(',').map((text) => readNumber(text, 0, 23));
  if (hour === undefined || hour === null || again === null || rest.length > 0) return null;
  if (again === undefined) return { hour };
  return hour < again ? { hour, again } : null;
}

/** A day of one month, or days that each month has, in months that are equally far apart. */
function parseMonths(minuteField: string, hourField: string, dayField: string, month: string): Recurrence | null {
  const [minute, hour] = [readNumber(minuteField, 0, 59), readNumber(hourField, 0, 23)];
  const oneMonth = readNumber(month, 1, MONTHS_OF_YEAR);
  const oneDay = readNumber(dayField, 1, 31);
  if (oneMonth !== null && oneDay !== null && minute !== null && hour !== null) {
    if (oneDay > (DAYS_OF_MONTHS[oneMonth - 1] ?? 0)) return null;
    return { every: 'year', month: oneMonth, day: oneDay, hour, minute };
  }
  const months = readStep(month, MONTHS_OF_YEAR);
  const day = dayField.toUpperCase() === 'L' ? 'last' : readNumber(dayField, 1, SHORTEST_MONTH);
  if (minute === null || hour === null || months === null || months === 1 || day === null) return null;
  return { every: 'months', months, day, hour, minute };
}

function readDays(day: string, weekday: string, time: Time & { again?: number }): Recurrence | null {
  if (day === '*') {
    const nth = readNthWeekday(weekday);
    if (nth !== null) return time.again === undefined ? { every: 'month-weekday', ...nth, ...time } : null;
    const days = weekday === '*' ? [...WORKDAYS, ...WEEKEND] : readWeekdays(weekday);
    if (days === null) return null;
    return days.length === 7 ? { every: 'day', ...time } : { every: 'week', days, ...time };
  }
  if (weekday !== '*' || time.again !== undefined) return null;
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

/** `1#2` or `5L` */
function readNthWeekday(field: string): { nth: number | 'last'; weekday: number } | null {
  const [, day = '', nth] = /^(\w{1,3})(?:#([1-5])|L)$/i.exec(field) ?? [];
  const weekday = readWeekday(day);
  return weekday === null ? null : { nth: nth === undefined ? 'last' : Number(nth), weekday: weekday || 7 };
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
  interval = 1,
  timezone,
}: TaskSchedule): Recurrence | null {
  if (recurrencePattern !== null) return parseCron(recurrencePattern);
  if (recurrence === 'once') return { every: 'once' };
  const { day, weekday, hour, minute } = readClock(new Date(scheduledFor), timezone);
  const time = { hour, minute, ...(interval > 1 && { interval }) };
  if (recurrence === 'daily') return { every: 'day', ...time };
  if (recurrence === 'weekly') return { every: 'week', days: [weekday], ...time };
  return { every: 'month', day, inShortMonths: true, ...time };
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
export function describeRecurrence(words: Recurrence, { schedule, formats }: Texts): string {
  switch (words.every) {
    case 'minute':
      return schedule.everyMinutes(words.minutes);
    case 'hour':
      return describeHours(words, schedule);
    case 'day':
      return words.interval === undefined
        ? schedule.everyDay(formatTimes(words, formats))
        : schedule.everyDays(words.interval, formatClock(words));
    case 'week': {
      const text = describeWeekdays(words, schedule, formatTimes(words, formats));
      return words.interval === undefined ? text : schedule.everyWeeks(words.interval, text);
    }
    case 'month':
      return words.interval === undefined
        ? describeDay(words, schedule)
        : describeMonths(words.interval, words, schedule);
    case 'month-weekday':
      return schedule.nthWeekday(words.nth, words.weekday, formatClock(words));
    case 'months':
      return describeMonths(words.months, words, schedule);
    case 'year':
      return schedule.everyYear(formats.dayOfYear(words.month, words.day), formatClock(words));
    case 'once':
      return schedule.once;
  }
}

/** The schedule of a task in the same words; null for a pattern that has none. */
export function describeSchedule(task: TaskSchedule, texts: Texts): string | null {
  const words = toRecurrence(task);
  return words && describeRecurrence(words, texts);
}

/** Whether the words alone say when each run is, without a calendar. */
export const isRegular = (words: Recurrence): boolean =>
  words.every === 'minute' || words.every === 'hour' || (words.every === 'day' && words.interval === undefined);

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

function describeWeekdays(
  { days }: Extract<Recurrence, { every: 'week' }>,
  schedule: ScheduleTexts,
  times: string,
): string {
  const isSame = (others: readonly number[]) =>
    days.length === others.length && days.every((day) => others.includes(day));
  if (isSame(WORKDAYS)) return schedule.weekdays(times);
  if (isSame(WEEKEND)) return schedule.weekends(times);
  return schedule.onDays(days, times);
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

/** `08:00`, or `08:00 and 20:00` */
const formatTimes = ({ again, ...time }: Time & { again?: number }, formats: Texts['formats']): string =>
  again === undefined ? formatClock(time) : formats.list([formatClock(time), formatClock({ ...time, hour: again })]);
