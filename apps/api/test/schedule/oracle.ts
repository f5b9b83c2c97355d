/**
 * A slow second implementation of schedules: lists every local time, and asks Intl which instants show it.
 * It shares no code or technique with the tested one: no Temporal, no croner, no jumps, no periods.
 */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
// No change of clocks moves an occurrence by more than a day.
const REACH = 25 * HOUR;

/** A cron pattern as the values that match. */
export interface Fields {
  minutes: number[];
  hours: number[];
  days: number[] | null;
  months: number[] | null;
  weekdays: number[] | null;
  /** Whether a day must match `days` and `weekdays`, or either. */
  areBoth: boolean;
}

export interface Plan {
  first: number;
  zone: string;
  rule: 'once' | 'daily' | 'weekly' | 'monthly' | Fields;
}

/** How many instants show the local time that decided an answer: none, one or two. */
export const seen = { gap: 0, once: 0, overlap: 0 };

export function slowNext(plan: Plan, after: number): number | null {
  const { first, zone, rule } = plan;
  if (after < first) return first;
  const from = clock(zone, after) - REACH;
  let best: { at: number; shown: number } | null = null;
  for (const wall of walls(rule, clock(zone, first), from)) {
    if (best !== null && wall > clock(zone, best.at) + REACH) break;
    const shown = instantsOf(zone, wall);
    for (const at of chosen(zone, wall, shown, rule)) {
      if (at > after && at > first && (best === null || at < best.at)) best = { at, shown: shown.length };
    }
  }
  if (best !== null) seen[best.shown === 0 ? 'gap' : best.shown === 1 ? 'once' : 'overlap'] += 1;
  return best?.at ?? null;
}

/** Every occurrence in (after, until], in order. */
export function slowList({ first, zone, rule }: Plan, after: number, until: number): number[] {
  const all = new Set(first > after && first <= until ? [first] : []);
  for (const wall of walls(rule, clock(zone, first), clock(zone, Math.max(first, after)) - REACH)) {
    if (wall > clock(zone, until) + REACH) break;
    for (const at of chosen(zone, wall, instantsOf(zone, wall), rule)) {
      if (at > after && at > first && at <= until) all.add(at);
    }
  }
  return [...all].sort((a, b) => a - b);
}

function chosen(zone: string, wall: number, shown: number[], rule: Plan['rule']): number[] {
  const firesEveryHour = typeof rule === 'object' && rule.hours.length === 24;
  if (shown.length > 0) return firesEveryHour ? shown : shown.slice(0, 1);
  // No instant shows it: it comes as if the clocks had not changed.
  return [wall - Math.min(...offsetsAbout(zone, wall))];
}

function instantsOf(zone: string, wall: number): number[] {
  const candidates = offsetsAbout(zone, wall).map((offset) => wall - offset);
  return candidates.filter((at) => clock(zone, at) === wall).sort((a, b) => a - b);
}

const about = new Map<string, number[]>();

function offsetsAbout(zone: string, wall: number): number[] {
  const hour = Math.floor(wall / HOUR) * HOUR;
  const key = `${zone} ${hour}`;
  let offsets = about.get(key);
  if (offsets === undefined) {
    // Samoa's clocks jumped a whole day, from UTC-10 to UTC+14.
    const instants = Array.from({ length: 11 }, (_, i) => hour + (3 * i - 15) * HOUR);
    offsets = [...new Set(instants.map((at) => clock(zone, at) - at))];
    about.set(key, offsets);
  }
  return offsets;
}

function* walls(rule: Plan['rule'], first: number, from: number): Generator<number> {
  if (rule === 'once') return;
  if (typeof rule === 'object') yield* patternWalls(rule, from);
  else if (rule === 'monthly') yield* monthlyWalls(first, from);
  else {
    const step = rule === 'daily' ? DAY : 7 * DAY;
    for (let wall = first + step; ; wall += step) if (wall >= from) yield wall;
  }
}

function* monthlyWalls(first: number, from: number): Generator<number> {
  const start = new Date(first);
  let [year, month] = [start.getUTCFullYear(), start.getUTCMonth() + 1];
  for (;;) {
    month += 1;
    if (month > 12) [year, month] = [year + 1, 1];
    const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
    const length = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
    const wall = Date.UTC(year, month - 1, Math.min(start.getUTCDate(), length)) + (((first % DAY) + DAY) % DAY);
    if (wall >= from) yield wall;
  }
}

function* patternWalls({ minutes, hours, days, months, weekdays, areBoth }: Fields, from: number): Generator<number> {
  for (let day = Math.floor(from / DAY) * DAY; day < from + 15_000 * DAY; day += DAY) {
    const date = new Date(day);
    const onDay = days === null || days.includes(date.getUTCDate());
    const onWeekday = weekdays === null || weekdays.includes(date.getUTCDay());
    if (months !== null && !months.includes(date.getUTCMonth() + 1)) continue;
    if (areBoth ? !(onDay && onWeekday) : !(onDay || onWeekday)) continue;
    for (const hour of hours) for (const minute of minutes) yield day + hour * HOUR + minute * MINUTE;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** What the clocks of `zone` show at an instant, as the milliseconds it would be in UTC. */
export function clock(zone: string, at: number): number {
  // Offsets have been whole minutes since 1973.
  const past = ((at % MINUTE) + MINUTE) % MINUTE;
  return ask(zone, at - past) + past;
}

function ask(zone: string, at: number): number {
  let format = formats.get(zone);
  if (format === undefined) {
    const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, hourCycle: 'h23', ...numeric });
    formats.set(zone, format);
  }
  const [month, day, year, hour, minute] = format.format(at).match(/\d+/g)!.map(Number);
  return Date.UTC(year!, month! - 1, day!, hour!, minute!);
}
