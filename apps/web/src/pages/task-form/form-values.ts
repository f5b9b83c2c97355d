import { formatCron } from '../../components/schedule/format-cron.ts';
import { toLocalTime } from '../../components/schedule/local-time.ts';
import { type Recurrence, type TaskSchedule, toRecurrence } from '../../components/schedule/recurrence-text.ts';
import type { Form } from '../../http/forms.ts';
import type { StoredTask } from './form-data.ts';
import {
  createSettingsValues,
  readSettingsValues,
  type SettingsValues,
  toSettingsValues,
} from './settings/settings-values.ts';

export const INTERVALS = ['minute', 'hour', 'day', 'week', 'month', 'once'] as const;
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
  /** 1 (Monday) to 7. */
  weekdays: readonly string[];
  /** `last`, or a number, with `+` if a shorter month has its last day instead. */
  day: string;
  date: string;
  cron: string;
  timezone: string;
}

/** The fields of the form, as they are typed. */
export interface FormValues extends ScheduleValues, SettingsValues {
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
    weekdays: form.list('weekday'),
    day: form.text('day'),
    date: form.text('date'),
    cron: form.text('cron').trim().replace(/\s+/g, ' '),
    timezone: form.text('timezone').trim(),
  };
}

export const readFormValues = (form: Form): FormValues => ({
  ...readSchedule(form),
  ...readSettingsValues(form),
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
    weekdays: ['1', '2', '3', '4', '5'],
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

/** The fields that say these words. Some patterns have words, and no fields. */
export function toRecurrenceValues(words: Recurrence): Partial<ScheduleValues> {
  switch (words.every) {
    case 'minute':
      return { every: 'minute', minutes: String(words.minutes) };
    case 'hour': {
      const { hours, minute, between } = words;
      const range = { from: between ? String(between.from) : '', until: between ? String(between.until) : '' };
      return { every: 'hour', hours: String(hours), minute: String(minute), ...range };
    }
    case 'day':
      return { every: 'day', at: `${pad(words.hour)}:${pad(words.minute)}` };
    case 'week':
      return { every: 'week', weekdays: words.days.map(String), at: `${pad(words.hour)}:${pad(words.minute)}` };
    case 'month': {
      const { day, inShortMonths, hour, minute } = words;
      const isLast = day === 'last' || (day === 31 && inShortMonths);
      const text = isLast ? 'last' : `${day}${inShortMonths && day > 28 ? '+' : ''}`;
      return { every: 'month', day: text, at: `${pad(hour)}:${pad(minute)}` };
    }
    case 'months':
      return {};
    case 'once':
      return { every: 'once' };
  }
}

export function toScheduleValues(task: TaskSchedule, now: Date): ScheduleValues {
  const { timezone, scheduledFor, recurrencePattern } = task;
  const { date, time } = toLocalTime(new Date(scheduledFor), timezone);
  const words = toRecurrence(task);
  const values = { ...startSchedule(timezone, now), date, at: time };
  const cron = recurrencePattern ?? (words && formatCron(words)) ?? '';
  return words && words.every !== 'months'
    ? { ...values, ...toRecurrenceValues(words), cron }
    : { ...values, mode: 'cron', cron };
}

/** The fields of a stored task. */
export const toFormValues = (task: StoredTask, now: Date): FormValues => ({
  ...toScheduleValues(task, now),
  ...toSettingsValues(task),
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
