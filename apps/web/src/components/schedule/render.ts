import { currentTimeZone } from '@carillon/contract/validation/formats';
import type { Texts } from '@carillon/texts';
import { type Html, html } from '../../html.ts';
import { describeSchedule, type TaskSchedule } from './recurrence-text.ts';

interface Reader {
  timeZone: string;
  texts: Texts;
}

/** The schedule in words, or its cron expression, with the time zone where it is not the one of the profile. */
export function renderSchedule(task: TaskSchedule, { timeZone, texts }: Reader): Html {
  const { schedule } = texts;
  const text = describeSchedule(task, texts) ?? schedule.cron(html`<code>${task.recurrencePattern}</code>`);
  const isOwnZone = task.timezone === timeZone || task.recurrence === 'once';
  return html`${text}${!isOwnZone && `, ${schedule.zoneTime(formatZone(task.timezone))}`}`;
}

/** `New York` */
export const formatZone = (timeZone: string): string =>
  currentTimeZone(timeZone).split('/').at(-1)?.replaceAll('_', ' ') ?? timeZone;
