import type { Recurrence } from './recurrence-text.ts';

const RANGE_LENGTH = 3;

/** The shortest pattern with the same runs; null for words that no pattern says. */
export function formatCron(words: Recurrence): string | null {
  if ('interval' in words) return null;
  switch (words.every) {
    case 'minute':
      return `${formatStep(words.minutes)} * * * *`;
    case 'hour':
      return `${words.minute} ${formatHours(words)} * * *`;
    case 'day':
      return `${words.minute} ${formatTimes(words)} * * *`;
    case 'week':
      return `${words.minute} ${formatTimes(words)} * * ${formatDays(words.days)}`;
    case 'month': {
      const { day, inShortMonths, hour, minute } = words;
      if (day === 'last' || (day === 31 && inShortMonths)) return `${minute} ${hour} L * *`;
      return day > 28 && inShortMonths ? null : `${minute} ${hour} ${day} * *`;
    }
    case 'month-weekday':
      return `${words.minute} ${words.hour} * * ${words.weekday}${words.nth === 'last' ? 'L' : `#${words.nth}`}`;
    case 'year':
      return `${words.minute} ${words.hour} ${words.day} ${words.month} *`;
    case 'months':
      return `${words.minute} ${words.hour} ${words.day === 'last' ? 'L' : words.day} ${formatStep(words.months)} *`;
    case 'once':
      return null;
  }
}

const formatStep = (step: number) => (step === 1 ? '*' : `*/${step}`);

const formatTimes = ({ hour, again }: { hour: number; again?: number }) =>
  again === undefined ? `${hour}` : `${hour},${again}`;

const formatHours = ({ hours, between }: Extract<Recurrence, { every: 'hour' }>) =>
  between ? `${between.from}-${between.until}` : formatStep(hours);

/** Three days in a row or more are a range. */
function formatDays(days: readonly number[]): string {
  if (days.length === 7) return '*';
  const runs: number[][] = [];
  for (const day of days) {
    const run = runs.at(-1);
    if (run?.at(-1) === day - 1) run.push(day);
    else runs.push([day]);
  }
  return runs.map((run) => (run.length < RANGE_LENGTH ? run.join(',') : `${run[0]}-${run.at(-1)}`)).join(',');
}
