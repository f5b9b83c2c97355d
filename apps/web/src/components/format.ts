const formatters = new Map<string, Intl.DateTimeFormat>();

/** English, with a clock of 24 hours. */
function formatter(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${timeZone} ${JSON.stringify(options)}`;
  const known = formatters.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', { timeZone, hourCycle: 'h23', ...options });
  formatters.set(key, made);
  return made;
}

const DAY: Intl.DateTimeFormatOptions = { weekday: 'short', day: 'numeric', month: 'short' };

/** `Tuesday 24 March 2026` */
export const formatLongDay = (at: Date, timeZone: string): string =>
  formatter(timeZone, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }).format(at).replace(',', '');

/** `Tue 24 Mar`, with the year if it is not that of `now`. */
export function formatDay(at: Date, timeZone: string, now: Date): string {
  const sameYear = formatter(timeZone, { year: 'numeric' });
  const options = sameYear.format(at) === sameYear.format(now) ? DAY : ({ ...DAY, year: 'numeric' } as const);
  return formatter(timeZone, options).format(at).replace(',', '');
}

/** `Tuesday 24 March, 02:30`, with the year if it is not that of `now`. */
export function formatLongMoment(at: Date, timeZone: string, now: Date): string {
  const year = formatter(timeZone, { year: 'numeric' });
  const day = formatLongDay(at, timeZone);
  const shown = year.format(at) === year.format(now) ? day.replace(/ \d+$/, '') : day;
  return `${shown}, ${formatTime(at, timeZone)}`;
}

/** `14:05` */
export const formatTime = (at: Date, timeZone: string): string =>
  formatter(timeZone, { hour: '2-digit', minute: '2-digit' }).format(at);

/** `14:05:09` */
export const formatSeconds = (at: Date, timeZone: string): string =>
  formatter(timeZone, { hour: '2-digit', minute: '2-digit', second: '2-digit' }).format(at);

/** The same text for all instants of a day. */
const dayOf = (at: Date, timeZone: string) =>
  formatter(timeZone, { year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);

const DAY_MS = 86_400_000;

/** `Today 14:05`, `Tomorrow 09:00`, `Yesterday 18:00`, or `Tue 24 Mar 14:05`. */
export function formatMoment(at: Date, timeZone: string, now: Date): string {
  const day = dayOf(at, timeZone);
  const names = { [-1]: 'Yesterday', 0: 'Today', 1: 'Tomorrow' };
  for (const [offset, name] of Object.entries(names)) {
    if (dayOf(new Date(now.getTime() + Number(offset) * DAY_MS), timeZone) === day) {
      return `${name} ${formatTime(at, timeZone)}`;
    }
  }
  return `${formatDay(at, timeZone, now)} ${formatTime(at, timeZone)}`;
}

/** The same inside of a sentence: `today 14:05`. */
export const formatMomentInText = (at: Date | string, timeZone: string, now: Date): string =>
  formatMoment(new Date(at), timeZone, now).replace(/^(Yesterday|Today|Tomorrow)/, (name) => name.toLowerCase());

const UNITS = [
  ['day', DAY_MS],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** `in 28 min`, `3 h ago`, `in 2 days`, `now`. */
export function formatDistance(at: Date, now: Date): string {
  const ms = at.getTime() - now.getTime();
  const [unit, length] = UNITS.find(([, size]) => Math.abs(ms) >= size) ?? [];
  if (unit === undefined) return 'now';
  const count = Math.round(Math.abs(ms) / length);
  const text = unit === 'day' ? `${count} ${count === 1 ? 'day' : 'days'}` : `${count} ${unit}`;
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

/** `850 ms`, `12 s`, `4 min 31 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const rest = seconds % 60;
  return rest === 0 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 60)} min ${rest} s`;
}

/** Called with the first number, since the first format of a process takes 30 ms. */
const loadFormats = () => ({
  number: new Intl.NumberFormat('en'),
  short: new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }),
});
let loaded: ReturnType<typeof loadFormats> | undefined;

function numberFormats() {
  loaded ??= loadFormats();
  return loaded;
}

/** `12,345` */
export const formatCount = (count: number): string => numberFormats().number.format(count);

/** `11.2 M` */
export const formatShortCount = (count: number): string =>
  numberFormats()
    .short.format(count)
    .replace(/([KMBT])$/, ' $1');

/** `$12.94`; small amounts keep two figures, such as `$0.0042`. */
export function formatCost(usd: number): string {
  if (usd === 0 || Math.abs(usd) >= 0.1) return `$${usd.toFixed(2)}`;
  return `$${usd.toFixed(Math.min(6, 1 - Math.floor(Math.log10(Math.abs(usd)))))}`;
}

const KIB = 1024;
const MIB = KIB * KIB;
const GIB = KIB * MIB;

/** `41 KB`, `1.5 MB`, `10 GB`: of 1,024 bytes, as limits are. */
export function formatBytes(bytes: number): string {
  if (bytes < KIB) return countWords(bytes, 'byte');
  if (bytes < MIB) return `${Math.round(bytes / KIB)} KB`;
  const toTenths = (count: number) => numberFormats().number.format(Math.round(count * 10) / 10);
  return bytes < GIB ? `${toTenths(bytes / MIB)} MB` : `${toTenths(bytes / GIB)} GB`;
}

/** `1 run`, `2 runs` */
export const countWords = (count: number, one: string, many = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;
