import type { StoredTask } from '../../actions.ts';
import { formatCron } from '../../components/schedule/format-cron.ts';
import { toInstant, toLocalTime } from '../../components/schedule/local-time.ts';
import { type Recurrence, type TaskSchedule, toRecurrence } from '../../components/schedule/recurrence-text.ts';
import type { Form } from '../../http/forms.ts';
import {
  createSettingsValues,
  readSettingsValues,
  type SettingsValues,
  toSettingsValues,
} from './settings/settings-values.ts';
import { type BlankValue, readBlanks } from './template/blanks.ts';

export const INTERVALS = ['minute', 'hour', 'day', 'week', 'month', 'year', 'once'] as const;
export type Interval = (typeof INTERVALS)[number];

/** When, as it is typed. */
export interface ScheduleValues {
  mode: 'words' | 'cron';
  every: Interval;
  minutes: string;
  hours: string;
  minute: string;
  from: string;
  until: string;
  at: string;
  /** Another hour of a day; empty for none. */
  again: string;
  /** Each n-th day, week or month from `date` on. */
  interval: string;
  /** 1 (Monday) to 7. */
  weekdays: readonly string[];
  /** Which of the weekdays `nthDay` of a month, 1 to 5 or `last`; empty for a day by its number. */
  nth: string;
  nthDay: string;
  /** `last`, or a number, with `+` if a shorter month has its last day instead. */
  day: string;
  /** Of a single run, the first one of an interval, or of each year. */
  date: string;
  cron: string;
  timezone: string;
}

/** The fields of the form, as they are typed. */
export interface FormValues extends ScheduleValues, SettingsValues {
  /** Of a template. */
  blanks: readonly BlankValue[];
  name: string;
  description: string;
  prompt: string;
  /** Ids of files. */
  attachments: readonly string[];
  aiModel: string;
  maxTokens: string;
  /** Such as `0.70`. */
  temperature: string;
  webhookUrl: string;
  notificationEmail: string;
}

const MAX_ATTACHMENTS = 100;

export function readSchedule(form: Form): ScheduleValues {
  const every = form.text('every') as Interval;
  return {
    mode: form.text('mode') === 'cron' ? 'cron' : 'words',
    every: INTERVALS.includes(every) ? every : 'day',
    minutes: form.text('minutes'),
    hours: form.text('hours'),
    minute: form.text('minute'),
    from: form.text('from'),
    until: form.text('until'),
    at: form.text('at'),
    again: form.text('again'),
    interval: form.text('interval') || '1',
    weekdays: form.list('weekday'),
    nth: form.text('nth'),
    nthDay: form.text('nthDay'),
    day: form.text('day'),
    date: form.text('date'),
    cron: form.text('cron').trim().replace(/\s+/g, ' '),
    timezone: form.text('timezone').trim(),
  };
}

export const readFormValues = (form: Form): FormValues => ({
  ...readSchedule(form),
  ...readSettingsValues(form),
  blanks: readBlanks(form),
  name: form.text('name'),
  description: form.text('description'),
  prompt: form.text('prompt'),
  attachments: [...new Set(form.list('attachment'))].slice(0, MAX_ATTACHMENTS),
  aiModel: form.text('aiModel').trim(),
  maxTokens: form.text('maxTokens').trim(),
  temperature: form.text('temperature').trim(),
  webhookUrl: form.text('webhookUrl').trim(),
  notificationEmail: form.text('notificationEmail').trim(),
});

const DAY_MS = 86_400_000;

/** Every day at 08:00. */
function startSchedule(timezone: string, now: Date): ScheduleValues {
  return {
    mode: 'words',
    every: 'day',
    minutes: '15',
    hours: '1',
    minute: '0',
    from: '',
    until: '',
    at: '08:00',
    again: '',
    interval: '1',
    weekdays: ['1', '2', '3', '4', '5'],
    nth: '',
    nthDay: '1',
    day: '1',
    date: toLocalTime(new Date(now.getTime() + DAY_MS), timezone).date,
    cron: '0 8 * * *',
    timezone,
  };
}

/** The fields of an empty form. */
export const createFormValues = (timezone: string, now: Date, aiModel: string): FormValues => ({
  ...startSchedule(timezone, now),
  ...createSettingsValues(),
  blanks: [],
  name: '',
  description: '',
  prompt: '',
  attachments: [],
  aiModel,
  maxTokens: '1024',
  temperature: '0.70',
  webhookUrl: '',
  notificationEmail: '',
});

const pad = (number: number) => String(number).padStart(2, '0');

const formatTime = ({ hour, minute }: { hour: number; minute: number }) => `${pad(hour)}:${pad(minute)}`;

/** The fields that say these words. Some patterns have words, and no fields. */
export function toRecurrenceValues(words: Recurrence, now: Date): Partial<ScheduleValues> {
  switch (words.every) {
    case 'minute':
      return { every: 'minute', minutes: String(words.minutes) };
    case 'hour': {
      const { hours, minute, between } = words;
      const range = { from: between ? String(between.from) : '', until: between ? String(between.until) : '' };
      return { every: 'hour', hours: String(hours), minute: String(minute), ...range };
    }
    case 'day':
      return { every: 'day', ...toTimeValues(words) };
    case 'week':
      return { every: 'week', weekdays: words.days.map(String), ...toTimeValues(words) };
    case 'month': {
      const { day, inShortMonths } = words;
      const isLast = day === 'last' || (day === 31 && inShortMonths);
      const text = isLast ? 'last' : `${day}${inShortMonths && day > 28 ? '+' : ''}`;
      return { every: 'month', nth: '', day: text, ...toTimeValues(words) };
    }
    case 'month-weekday':
      return { every: 'month', nth: `${words.nth}`, nthDay: `${words.weekday}`, ...toTimeValues(words) };
    case 'year':
      return { every: 'year', date: findDateOfYear(words, now), at: formatTime(words) };
    case 'months':
      return {};
    case 'once':
      return { every: 'once' };
  }
}

const toTimeValues = (words: { hour: number; minute: number; again?: number; interval?: number }) => ({
  at: formatTime(words),
  again: words.again === undefined ? '' : `${words.again}`,
  interval: `${words.interval ?? 1}`,
});

/** The next year that has the day. */
function findDateOfYear({ month, day }: { month: number; day: number }, now: Date): string {
  for (let year = now.getUTCFullYear(); ; year += 1) {
    const date = new Date(Date.UTC(year, month - 1, day));
    if (date.getUTCDate() === day && date.getTime() + DAY_MS > now.getTime()) return date.toISOString().slice(0, 10);
  }
}

export function toScheduleValues(task: TaskSchedule, now: Date): ScheduleValues {
  const { timezone, scheduledFor, recurrencePattern } = task;
  const { date, time } = toLocalTime(new Date(scheduledFor), timezone);
  const words = toRecurrence(task);
  const values = { ...startSchedule(timezone, now), date, at: time };
  const cron = recurrencePattern ?? (words && formatCron(words)) ?? '';
  if (!words || words.every === 'months') return { ...values, mode: 'cron', cron };
  const shown = { ...values, ...toRecurrenceValues(words, now), cron };
  return 'interval' in words ? { ...shown, date: findNextDate(shown, date, now) } : shown;
}

/** The first date from `start` on, in steps of the interval, whose time is in the future. */
function findNextDate({ every, interval, at, timezone }: ScheduleValues, start: string, now: Date): string {
  const [year = 0, month = 1, day = 1] = start.split('-').map(Number);
  for (let steps = 0; ; steps += Number(interval)) {
    const last = new Date(Date.UTC(year, month + steps, 0)).getUTCDate();
    const date =
      every === 'month'
        ? Date.UTC(year, month - 1 + steps, Math.min(day, last))
        : Date.UTC(year, month - 1, day + steps * (every === 'week' ? 7 : 1));
    const text = new Date(date).toISOString().slice(0, 10);
    const instant = date > now.getTime() - 2 * DAY_MS ? toInstant(text, at, timezone) : null;
    if (instant !== null && instant > now) return text;
  }
}

/** The fields of a stored task. */
export const toFormValues = (task: StoredTask, now: Date): FormValues => ({
  ...toScheduleValues(task, now),
  ...toSettingsValues(task),
  blanks: [],
  name: task.name,
  description: task.description ?? '',
  prompt: task.prompt,
  attachments: task.attachments,
  aiModel: task.aiModel,
  maxTokens: String(task.maxTokens),
  temperature: (task.temperature / 100).toFixed(2),
  webhookUrl: task.webhookUrl ?? '',
  notificationEmail: task.notificationEmail ?? '',
});
