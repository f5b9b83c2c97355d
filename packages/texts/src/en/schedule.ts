import { parts } from '../parts.ts';
import { formats } from './formats.ts';

const ordinals = new Intl.PluralRules('en', { type: 'ordinal' });
const SUFFIXES: Record<Intl.LDMLPluralRule, string> = {
  zero: 'th',
  one: 'st',
  two: 'nd',
  few: 'rd',
  many: 'th',
  other: 'th',
};
/** `2nd` */
export const ordinal = (number: number) => `${number}${SUFFIXES[ordinals.select(number)]}`;

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const ORDINALS = ['First', 'Second', 'Third', 'Fourth', 'Fifth'];
const DAYS = ['Mondays', 'Tuesdays', 'Wednesdays', 'Thursdays', 'Fridays', 'Saturdays', 'Sundays'];

const everyHours = (hours: number) => (hours === 1 ? 'Every hour' : `Every ${hours} hours`);

/** Schedules in words. Times are texts such as `08:00` or `08:00 and 20:00`; days of the week are 1 (Monday) to 7. */
export const schedule = {
  everyMinutes: (minutes: number) => (minutes === 1 ? 'Every minute' : `Every ${minutes} minutes`),
  everyHours,
  everyHoursAt: (hours: number, minute: number) => `${everyHours(hours)} at minute ${minute}`,
  everyHourBetween: (from: string, until: string) => `Every hour from ${from} to ${until}`,
  everyDay: (time: string) => `Every day at ${time}`,
  weekdays: (time: string) => `Weekdays at ${time}`,
  weekends: (time: string) => `Weekends at ${time}`,
  onDays: (days: readonly number[], time: string) =>
    `${formats.list(days.map((day) => DAYS[day - 1] ?? ''))} at ${time}`,
  monthly: (day: number, time: string) => `${ordinal(day)} of every month at ${time}`,
  /** In a shorter month on its last day. */
  monthlyOrLast: (day: number, time: string) => `${ordinal(day)} of every month, or its last day, at ${time}`,
  /** Not in a shorter month. */
  longMonths: (day: number, time: string) => `${ordinal(day)} of every month that has it at ${time}`,
  monthlyLast: (time: string) => `Last day of every month at ${time}`,
  everyMonths: (months: number, day: number, time: string) =>
    `${ordinal(day)} of every ${ordinal(months)} month at ${time}`,
  everyMonthsLast: (months: number, time: string) => `Last day of every ${ordinal(months)} month at ${time}`,
  /** In a shorter month on its last day. */
  everyMonthsOrLast: (months: number, day: number, time: string) =>
    `${ordinal(day)} of every ${ordinal(months)} month, or its last day, at ${time}`,
  nthWeekday: (nth: number | 'last', weekday: number, time: string) =>
    `${nth === 'last' ? 'Last' : ORDINALS[nth - 1]} ${WEEKDAYS[weekday - 1]} of every month at ${time}`,
  /** `date` is a text such as `24 December`. */
  everyYear: (date: string, time: string) => `Every year on ${date} at ${time}`,
  everyDays: (days: number, time: string) => `Every ${days} days at ${time}`,
  /** `schedule` is a text such as `Mondays at 08:00`. */
  everyWeeks: (weeks: number, schedule: string) => `${schedule}, every ${weeks} weeks`,
  once: 'Once',
  cron: <P>(pattern: P) => parts`Cron ${pattern}`,
  /** `place` is the city of a time zone, or its whole name. */
  zoneTime: (place: string) => `${place} time`,

  /** Below a planned run: what moves it, and what bounds the runs. */
  notes: {
    pausedUntil: (moment: string) => `The task is paused until ${moment}.`,
    eitherDay: 'The pattern fires on days that match the day of the month or the weekday.',
    bothDays: 'The pattern fires on days that match both the day of the month and the weekday.',
    lastBeforeEnd: (moment: string) => `This is the last run before the task ends at ${moment}.`,
    lastRun: (maxRuns: number) =>
      maxRuns === 1 ? 'This is the only planned run.' : `This is the last of ${maxRuns} planned runs.`,
    firstRun: 'This is the first run. The pattern itself does not fire at this time.',
    shortMonth: (month: string, day: number) => `${month} has no day ${day}, so this runs on its last day.`,
    /** `actualDay` is null for a run on the planned one. */
    clocksForward: (time: string, day: string, actualTime: string, actualDay: string | null) =>
      `The clocks go forward past ${time} on ${day}, so this runs at ${actualTime}${actualDay === null ? '' : ` on ${actualDay}`}.`,
    clocksBack: (time: string, day: string, runsTwice: boolean) =>
      `The clocks go back, and ${time} on ${day} comes twice; ${
        runsTwice ? 'it fires every hour, so it runs both times' : 'it runs once, at the first'
      }.`,
  },
};
