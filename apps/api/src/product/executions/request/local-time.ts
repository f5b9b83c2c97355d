import { periodAt } from '../../schedule/time-zone.ts';

/** An instant as the clock of a time zone shows it. */
export interface LocalTime {
  at: number;
  zone: string;
  /** Such as `2026-11-20`. */
  date: string;
  /** Such as `11:00`. */
  time: string;
  weekday: string;
  /** Such as `+05:30`. */
  offset: string;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

export function toLocalTime(zone: string, at: number): LocalTime {
  const offset = findOffset(zone, at);
  const shown = new Date(at + (offset ?? 0));
  const text = shown.toISOString();
  return {
    at,
    zone: offset === null ? 'UTC' : zone,
    date: text.slice(0, 10),
    time: text.slice(11, 16),
    weekday: WEEKDAYS[shown.getUTCDay()] as string,
    offset: formatOffset(offset ?? 0),
  };
}

/** Such as `2026-11-20T11:00:00+00:00`. */
export const formatInstant = ({ at, date, time, offset }: LocalTime) =>
  `${date}T${time}:${new Date(at).toISOString().slice(17, 19)}${offset}`;

/** Null for a zone that this version does not know: a run starts all the same. */
function findOffset(zone: string, at: number): number | null {
  try {
    return periodAt(zone, at).offset;
  } catch {
    return null;
  }
}

function formatOffset(ms: number): string {
  const minutes = Math.abs(Math.trunc(ms / 60_000));
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'));
  return `${ms < 0 ? '-' : '+'}${hour}:${minute}`;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** The two largest units, such as `2 hours and 5 minutes`. */
export function formatDelay(ms: number): string {
  let seconds = Math.floor(ms / 1000);
  const parts = UNITS.map(([name, size]) => {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    return { count, text: `${count} ${name}${count === 1 ? '' : 's'}` };
  });
  const first = parts.findIndex(({ count }) => count > 0);
  return parts
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ text }) => text)
    .join(' and ');
}
