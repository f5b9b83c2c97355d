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
const NAMES = ['Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays'];
const WORKDAYS = [1, 2, 3, 4, 5];
const WEEKEND = [6, 7];

/** The words of a valid pattern of five fields; null if they would say less or more than the pattern. */
export function parseCron(pattern: string): Recurrence | null {
  const fields = pattern.trim().split(/\s+/);
  const [minuteField = '', hourField = '', day = '', month, weekday = ''] = fields;
  if (fields.length !== 5 || month !== '*') return null;
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
export function describeRecurrence(words: Recurrence): string {
  switch (words.every) {
    case 'minute':
      return words.minutes === 1 ? 'Every minute' : `Every ${words.minutes} minutes`;
    case 'hour':
      return describeHours(words);
    case 'day':
      return `Every day at ${formatClock(words)}`;
    case 'week':
      return `${describeWeekdays(words.days)} at ${formatClock(words)}`;
    case 'month':
      return describeMonths(words);
    case 'once':
      return 'Once';
  }
}

function describeHours({ hours, minute, between }: Extract<Recurrence, { every: 'hour' }>): string {
  const every = hours === 1 ? 'Every hour' : `Every ${hours} hours`;
  if (between) {
    return `${every} from ${formatClock({ hour: between.from, minute })} to ${formatClock({ hour: between.until, minute })}`;
  }
  return minute === 0 ? every : `${every} at ${minute} min past`;
}

function describeMonths({ day, inShortMonths, ...time }: Extract<Recurrence, { every: 'month' }>): string {
  const at = formatClock(time);
  if (day === 'last' || (day === 31 && inShortMonths)) return `Last day of the month at ${at}`;
  if (day <= SHORTEST_MONTH) return `Day ${day} of the month at ${at}`;
  return inShortMonths
    ? `Day ${day} of the month, or its last, at ${at}`
    : `Day ${day} of the months that have it at ${at}`;
}

function describeWeekdays(days: readonly number[]): string {
  const isSame = (others: readonly number[]) =>
    days.length === others.length && days.every((day) => others.includes(day));
  if (isSame(WORKDAYS)) return 'Weekdays';
  if (isSame(WEEKEND)) return 'Weekends';
  const names = days.map((day) => NAMES[day - 1] ?? '');
  return names.length === 1 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

const formatClock = ({ hour, minute }: { hour: number; minute: number }): string =>
  `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
