import type { Texts } from '@carillon/texts';
import { toInstant, toLocalTime } from '../../../components/schedule/local-time.ts';
import type { Recurrence } from '../../../components/schedule/recurrence-text.ts';
import type { ScheduleValues } from '../form-values.ts';
import type { Problems } from '../problems.ts';

type FormTexts = Texts['taskForm'];

const readNumber = (text: string, min: number, max: number): number | null => {
  const number = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return number >= min && number <= max ? number : null;
};

function readTime(at: string): { hour: number; minute: number } | null {
  // Some browsers add seconds.
  const [hour, minute] = /^\d\d:\d\d/.test(at) ? at.split(':').map(Number) : [];
  return hour !== undefined && minute !== undefined && hour < 24 && minute < 60 ? { hour, minute } : null;
}

/** The words that the fields say. */
export function readRecurrence(values: ScheduleValues, { taskForm }: Texts): Recurrence | Problems {
  const { every } = values;
  if (every === 'minute') return readMinutes(values, taskForm);
  if (every === 'hour') return readHours(values, taskForm);
  const time = readTime(values.at);
  if (!time) return { at: [taskForm.enterTime] };
  if (every === 'once') return { every };
  if (every === 'year') return readDate(values, taskForm, ({ month, day }) => ({ every, month, day, ...time }));
  const interval = readNumber(values.interval, 1, 99);
  if (interval === null) return { interval: [taskForm.chooseInterval] };
  if (interval > 1) {
    return readDate(values, taskForm, ({ day, weekday }) => {
      if (every === 'day') return { every, ...time, interval };
      if (every === 'week') return { every, days: [weekday], ...time, interval };
      return { every, day, inShortMonths: true, ...time, interval };
    });
  }
  if (every === 'month') return readDay(values, time, taskForm);
  const again = values.again === '' ? time.hour : readNumber(values.again, 0, 23);
  if (again === null) return { again: [taskForm.chooseHour] };
  const [hour, later] = [Math.min(time.hour, again), Math.max(time.hour, again)];
  const times = { hour, minute: time.minute, ...(later > hour && { again: later }) };
  return every === 'day' ? { every, ...times } : readWeekdays(values, times, taskForm);
}

/** The words that a date completes. */
function readDate(
  { date }: ScheduleValues,
  taskForm: FormTexts,
  complete: (date: { month: number; day: number; weekday: number }) => Recurrence,
): Recurrence | Problems {
  // The zone does not matter for a date without a time.
  const noon = toInstant(date, '12:00', 'UTC');
  if (noon === null) return { date: [taskForm.enterDate] };
  return complete({ month: noon.getUTCMonth() + 1, day: noon.getUTCDate(), weekday: noon.getUTCDay() || 7 });
}

export const isRecurrence = (read: Recurrence | Problems): read is Recurrence => typeof read.every === 'string';

function readMinutes({ minutes: text }: ScheduleValues, taskForm: FormTexts): Recurrence | Problems {
  const minutes = readNumber(text, 1, 30);
  if (minutes === null || 60 % minutes !== 0) return { minutes: [taskForm.minutesDivide] };
  return { every: 'minute', minutes };
}

function readHours(
  { hours: text, minute: minuteText, from, until }: ScheduleValues,
  taskForm: FormTexts,
): Recurrence | Problems {
  const hours = readNumber(text, 1, 12);
  const minute = readNumber(minuteText, 0, 59);
  if (hours === null || 24 % hours !== 0) return { hours: [taskForm.hoursDivide] };
  if (minute === null) return { minute: [taskForm.enterMinute] };
  if (from === '' && until === '') return { every: 'hour', hours, minute };
  const between = { from: readNumber(from, 0, 23), until: readNumber(until, 0, 23) };
  if (between.from === null) return { from: [taskForm.enterFirstHour] };
  if (between.until === null) return { until: [taskForm.enterLastHour] };
  if (between.from >= between.until) return { until: [taskForm.hourOrder] };
  if (hours !== 1) return { hours: [taskForm.hourlyBetween] };
  return { every: 'hour', hours, minute, between: { from: between.from, until: between.until } };
}

function readWeekdays(
  { weekdays }: ScheduleValues,
  time: { hour: number; minute: number; again?: number },
  taskForm: FormTexts,
): Recurrence | Problems {
  const days = [...new Set(weekdays.map((text) => readNumber(text, 1, 7) ?? 0))].sort((a, b) => a - b);
  if (days.length === 0 || days.includes(0)) return { weekday: [taskForm.chooseWeekday] };
  return days.length === 7 ? { every: 'day', ...time } : { every: 'week', days, ...time };
}

function readDay(
  { day: text, nth, nthDay }: ScheduleValues,
  time: { hour: number; minute: number },
  taskForm: FormTexts,
): Recurrence | Problems {
  if (nth !== '') {
    const place = nth === 'last' ? nth : readNumber(nth, 1, 5);
    const weekday = readNumber(nthDay, 1, 7);
    if (place === null || weekday === null) return { nth: [taskForm.chooseDay] };
    return { every: 'month-weekday', nth: place, weekday, ...time };
  }
  if (text === 'last') return { every: 'month', day: 'last', inShortMonths: true, ...time };
  const isKept = text.endsWith('+');
  const day = readNumber(isKept ? text.slice(0, -1) : text, 1, 31);
  if (day === null) return { day: [taskForm.chooseDay] };
  return { every: 'month', day, inShortMonths: isKept || day <= 28, ...time };
}

/** The instant of a single run, or what is wrong. */
export function readSingleRun({ date, at, timezone }: ScheduleValues, { taskForm }: Texts): Date | Problems {
  const time = readTime(at);
  if (!time) return { at: [taskForm.enterTime] };
  return toInstant(date, at.slice(0, 5), timezone) ?? { date: [taskForm.enterDate] };
}

/** The next instant on this day of a month, of months that have it. */
export function findNextDay(
  { day, hour, minute }: { day: number; hour: number; minute: number },
  timezone: string,
  now: Date,
): Date {
  const [year = 0, month = 1] = toLocalTime(now, timezone).date.split('-').map(Number);
  const time = [hour, minute].map((number) => String(number).padStart(2, '0')).join(':');
  for (let ahead = 0; ; ahead += 1) {
    const date = new Date(Date.UTC(year, month - 1 + ahead, day));
    if (date.getUTCDate() !== day) continue;
    const at = toInstant(date.toISOString().slice(0, 10), time, timezone);
    if (at !== null && at > now) return at;
  }
}
