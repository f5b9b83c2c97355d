import { type Html, html } from '../../html.ts';
import { describeRecurrence, type TaskSchedule, toRecurrence } from './recurrence-text.ts';

const UNITS = { daily: 'days', weekly: 'weeks', monthly: 'months' };

/** The schedule in words, or its cron expression, with the time zone where it is not the one of the profile. */
export function renderSchedule(schedule: TaskSchedule, timeZone: string): Html {
  const words = toRecurrence(schedule);
  const text = words === null ? html`By cron <code>${schedule.recurrencePattern}</code>` : describeRecurrence(words);
  const { interval = 1, recurrence } = schedule;
  const said = interval > 1 && recurrence !== 'once' ? html`Every ${interval} ${UNITS[recurrence]}: ${text}` : text;
  const isOwnZone = schedule.timezone === timeZone || words?.every === 'once';
  return html`${said}${!isOwnZone && `, ${formatZone(schedule.timezone)} time`}`;
}

/** `New York` */
export const formatZone = (timeZone: string): string => timeZone.split('/').at(-1)?.replaceAll('_', ' ') ?? timeZone;
