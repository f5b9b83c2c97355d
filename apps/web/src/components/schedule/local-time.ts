/** What a clock shows, as milliseconds in UTC. */
type Wall = number;

export interface LocalTime {
  /** `2026-03-25` */
  date: string;
  /** `02:30` */
  time: string;
  hour: number;
  minute: number;
  day: number;
  /** 1 (Monday) to 7. */
  weekday: number;
}

const DAY_MS = 86_400_000;

const formatters = new Map<string, Intl.DateTimeFormat>();

function readWall(at: number, timeZone: string): Wall {
  let formatter = formatters.get(timeZone);
  if (!formatter) {
    const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
    formatter = new Intl.DateTimeFormat('en', { timeZone, hourCycle: 'h23', ...digits });
    formatters.set(timeZone, formatter);
  }
  const parts = Object.fromEntries(formatter.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute);
}

/** Throws RangeError for an unknown zone. */
export function toLocalTime(at: Date, timeZone: string): LocalTime {
  const wall = new Date(readWall(at.getTime(), timeZone));
  const [date = '', time = ''] = wall.toISOString().slice(0, 16).split('T');
  return {
    date,
    time,
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    day: wall.getUTCDate(),
    weekday: wall.getUTCDay() || 7,
  };
}

/**
 * The instant at which clocks show `date` and `time`, or null for a text that is no time. A time that comes twice is the
 * first one; a time that clocks skip is as much later as they skip. Throws RangeError for an unknown zone.
 */
export function toInstant(date: string, time: string, timeZone: string): Date | null {
  const wall = Date.parse(`${date}T${time}Z`);
  // Date moves a 30 February into March.
  if (Number.isNaN(wall) || new Date(wall).toISOString().slice(0, 16) !== `${date}T${time}`) return null;
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((at) => readWall(at, timeZone) - at);
  const candidates = offsets.map((offset) => wall - offset).filter((at) => readWall(at, timeZone) === wall);
  const [before = 0] = offsets;
  return new Date(candidates.length > 0 ? Math.min(...candidates) : wall - before);
}

/** `2026-11-20T10:00`, the value of a field of local time. */
export function formatLocalTime(at: Date, timeZone: string): string {
  const { date, time } = toLocalTime(at, timeZone);
  return `${date}T${time}`;
}

/** The instant of such a value; null for a text that is no time. Browsers may add seconds. */
export function parseLocalTime(text: string, timeZone: string): Date | null {
  const [date = '', time = ''] = text.split('T');
  return toInstant(date, time.slice(0, 5), timeZone);
}
