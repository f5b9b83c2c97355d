import type { Language } from './language.ts';

/** The present, and the zone of the reader. */
export interface Clock {
  now: Date;
  timeZone: string;
}

/** The few words of times that `Intl` does not know. */
interface TimeWords {
  /** `24 March` and `14:05`. */
  dayAtTime(day: string, time: string): string;
  /** `on 24 March at 14:05`, from the text of `dayAtTime`. */
  onDay(day: string): string;
  underAMinute: string;
  justNow: string;
}

const LOCALES = { en: 'en-GB', 'pt-BR': 'pt-BR' } as const;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** With the number from which the next unit is used. */
const UNITS = [
  ['minute', MINUTE_MS, 60],
  ['hour', HOUR_MS, 24],
] as const;
const LARGEST_UNIT = ['day', DAY_MS] as const;
const KIB = 1024;
const SMALLEST_USD = 0.0001;

export type Formats = ReturnType<typeof createFormats>;

/** Numbers, amounts, lists and times of a language. All times are on a clock of 24 hours. */
export function createFormats(language: Language, words: TimeWords) {
  const locale = LOCALES[language];
  const numbers = memoize((options: Intl.NumberFormatOptions) => new Intl.NumberFormat(locale, options));
  const dates = memoize(
    (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, { hourCycle: 'h23', ...options }),
  );
  const relatives = memoize((options: Intl.RelativeTimeFormatOptions) => new Intl.RelativeTimeFormat(locale, options));
  const lists = memoize((options: Intl.ListFormatOptions) => new Intl.ListFormat(locale, options));

  const number = (value: number): string => numbers({}).format(value);
  const date = (at: Date, timeZone: string, options: Intl.DateTimeFormatOptions) =>
    tidyDate(dates({ timeZone, ...options }).format(at));
  const time = (at: Date, timeZone: string): string => date(at, timeZone, { hour: '2-digit', minute: '2-digit' });
  const fullDay = (at: Date, timeZone: string): string =>
    date(at, timeZone, { day: 'numeric', month: 'long', year: 'numeric' });
  const yearOf = (at: Date, timeZone: string) => date(at, timeZone, { year: 'numeric' });
  /** The year only where it is not the present one. */
  const withYear = (options: Intl.DateTimeFormatOptions, at: Date, { now, timeZone }: Clock) =>
    yearOf(at, timeZone) === yearOf(now, timeZone) ? options : { ...options, year: 'numeric' as const };

  /** `24 March` */
  const dayAndMonth = (at: Date, clock: Clock): string =>
    date(at, clock.timeZone, withYear({ day: 'numeric', month: 'long' }, at, clock));

  /** `today`, `tomorrow` or `yesterday`; null for any other day. */
  function nearDay(at: Date, { now, timeZone }: Clock): string | null {
    const days = dayNumber(at, timeZone) - dayNumber(now, timeZone);
    return Math.abs(days) > 1 ? null : relatives({ numeric: 'auto' }).format(days, 'day');
  }

  const moment = (at: Date, clock: Clock): string =>
    words.dayAtTime(nearDay(at, clock) ?? dayAndMonth(at, clock), time(at, clock.timeZone));

  const dollars = (usd: number, digits: number): string =>
    numbers({
      style: 'currency',
      currency: 'USD',
      currencyDisplay: language === 'en' ? 'narrowSymbol' : 'symbol',
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    }).format(usd);

  return {
    /** `12,345` */
    number,

    /** `24 December` */
    dayOfYear: (month: number, day: number): string =>
      date(new Date(Date.UTC(2028, month - 1, day)), 'UTC', { day: 'numeric', month: 'long' }),

    /** `11.2 M` */
    shortNumber: (value: number): string =>
      numbers({ notation: 'compact', maximumFractionDigits: 1 })
        .format(value)
        .replace(/(?<=\d)m$/, ' M')
        .replace(/(?<=\d)k$/, ' K')
        .replace(/(?<=\d)bn$/, ' B')
        .replace(/(?<=\d)tn$/, ' T'),

    /** `68.9%` */
    percent: (share: number): string => numbers({ style: 'percent', maximumFractionDigits: 1 }).format(share),

    /** `$12.94`; small amounts keep two figures, such as `$0.0042`, and the smallest are `< $0.0001`. */
    money(usd: number): string {
      const size = Math.abs(usd);
      if (size > 0 && size < SMALLEST_USD) return `< ${dollars(SMALLEST_USD, 4)}`;
      return dollars(usd, usd === 0 || size >= 0.1 ? 2 : 1 - Math.floor(Math.log10(size)));
    },

    /** `1 run`, `2 runs`: the number with the noun in the form that it needs. */
    count: (value: number, one: string, other: string): string => `${number(value)} ${value === 1 ? one : other}`,

    /** `a, b and c` */
    list: (items: readonly string[]): string => lists({ type: 'conjunction' }).format(items),

    /** `41 KB`, `1.5 MB`, `10 GB`: of 1,024 bytes, as limits are. */
    bytes(size: number): string {
      if (size < KIB) return numbers({ style: 'unit', unit: 'byte', unitDisplay: 'long' }).format(size);
      if (size < KIB ** 2) return `${number(Math.round(size / KIB))} KB`;
      const [unit, length] = size < KIB ** 3 ? (['MB', KIB ** 2] as const) : (['GB', KIB ** 3] as const);
      return `${number(Math.round((size * 10) / length) / 10)} ${unit}`;
    },

    /** `850 ms`, `12 s`, `4 min 31 s`, `2 h 5 min`. */
    duration(ms: number): string {
      if (ms < 1000) return `${number(Math.round(ms))} ms`;
      const seconds = Math.round(ms / 1000);
      if (seconds < 60) return `${seconds} s`;
      const [large, small] = seconds < 3600 ? (['min', 's'] as const) : (['h', 'min'] as const);
      const total = seconds < 3600 ? seconds : Math.round(seconds / 60);
      const rest = total % 60;
      return `${number(Math.floor(total / 60))} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
    },

    /** An instant after a preposition or a noun, as in "until …": `today at 05:28`, `24 March at 14:05`. */
    moment,

    /** An instant after a verb, as in "ended …": `today at 05:28`, `on 24 March at 14:05`. */
    momentOn: (at: Date, clock: Clock): string =>
      nearDay(at, clock) === null ? words.onDay(moment(at, clock)) : moment(at, clock),

    /** An instant as a label: `Today at 05:28`, `Tue 24 Mar, 14:05`. */
    momentLabel(at: Date, clock: Clock): string {
      const { timeZone } = clock;
      const near = nearDay(at, clock);
      if (near !== null) return capitalize(words.dayAtTime(near, time(at, timeZone)));
      const options = withYear({ weekday: 'short', day: 'numeric', month: 'short' }, at, clock);
      return `${capitalize(date(at, timeZone, options))}, ${time(at, timeZone)}`;
    },

    /** A day after a verb: `today`, `tomorrow`, `on 1 December`. */
    dateOn: (at: Date, clock: Clock): string => nearDay(at, clock) ?? words.onDay(dayAndMonth(at, clock)),

    /** How far an instant is away: `in 2 hours`, `3 days ago`, `in under a minute`, `just now`. */
    distance(at: Date, now: Date): string {
      const ms = at.getTime() - now.getTime();
      const [unit, length] = UNITS.find(([, size, max]) => Math.round(Math.abs(ms) / size) < max) ?? LARGEST_UNIT;
      if (Math.abs(ms) < MINUTE_MS) return ms > 0 ? words.underAMinute : words.justNow;
      return relatives({}).format(Math.sign(ms) * Math.round(Math.abs(ms) / length), unit);
    },

    /** `14:05` */
    time,

    /** `14:05:09` */
    timeWithSeconds: (at: Date, timeZone: string): string =>
      date(at, timeZone, { hour: '2-digit', minute: '2-digit', second: '2-digit' }),

    /** A heading or a label: `Tue 24 Mar`, with the year if it is not the present one. */
    day: (at: Date, clock: Clock): string =>
      capitalize(date(at, clock.timeZone, withYear({ weekday: 'short', day: 'numeric', month: 'short' }, at, clock))),

    /** `Tuesday 24 March 2026` */
    longDay: (at: Date, timeZone: string): string =>
      capitalize(date(at, timeZone, { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' })),

    /** A title: `Tuesday 24 March, 02:30`. */
    longMoment(at: Date, clock: Clock): string {
      const options = withYear({ weekday: 'long', day: 'numeric', month: 'long' }, at, clock);
      return `${capitalize(date(at, clock.timeZone, options))}, ${time(at, clock.timeZone)}`;
    },

    /** In a text that is kept: `24 March 2026`. */
    fullDay,

    /** In a text that is kept: `24 March 2026 at 14:05`. */
    fullMoment: (at: Date, timeZone: string): string => words.dayAtTime(fullDay(at, timeZone), time(at, timeZone)),

    /** `November` */
    month: (at: Date, timeZone: string): string => capitalize(date(at, timeZone, { month: 'long' })),

    /** `November 2026` */
    monthAndYear: (at: Date, timeZone: string): string =>
      capitalize(date(at, timeZone, { month: 'long', year: 'numeric' })),

    /** `1 November` */
    dayOfMonth: (at: Date, timeZone: string): string => date(at, timeZone, { day: 'numeric', month: 'long' }),
  };

  /** British English has no comma after a weekday; Portuguese says the first day of a month, and pages need no periods. */
  function tidyDate(text: string): string {
    return language === 'en'
      ? text.replace(/^([A-Z][a-z]+), /, '$1 ')
      : text.replace(/(?<!\d)1 de /, '1º de ').replaceAll('.', '');
  }
}

const isoDays = memoize((options: { timeZone: string }) => new Intl.DateTimeFormat('en-CA', options));

/** Counts the days of the calendar, which can have 23 or 25 hours. */
const dayNumber = (at: Date, timeZone: string): number => Date.parse(isoDays({ timeZone }).format(at)) / DAY_MS;

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Formatters are kept, because the first one of a process takes 30 ms. */
function memoize<O extends object, F>(create: (options: O) => F): (options: O) => F {
  const known = new Map<string, F>();
  return (options) => {
    const key = JSON.stringify(options);
    const found = known.get(key) ?? create(options);
    known.set(key, found);
    return found;
  };
}
