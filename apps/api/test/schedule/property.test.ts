import t from 'tap';
import { nextOccurrence, type Schedule } from '../../src/product/schedule/recurrence.ts';
import { clock, type Fields, type Plan, seen, slowList, slowNext } from './oracle.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ZONES = Intl.supportedValuesOf('timeZone');
const SEED = 20_261_120;

let state = SEED;
/** mulberry32: the same schedules on every machine. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let x = Math.imul(state ^ (state >>> 15), 1 | state);
  x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}
const below = (limit: number) => Math.floor(random() * limit);
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
const range = (low: number, high: number) => Array.from({ length: high - low + 1 }, (_, i) => low + i);

const offset = (zone: string, at: number) => clock(zone, at) - at;

/** The minute of a change of clocks since 1975, in a random zone. */
function change(): { zone: string; at: number } {
  for (;;) {
    const zone = pick(ZONES);
    let low = Date.UTC(1975 + below(65), below(12), 1);
    const end = low + 200 * DAY;
    const before = offset(zone, low);
    while (low < end && offset(zone, low + 8 * DAY) === before) low += 8 * DAY;
    if (low >= end) continue;
    let high = low + 8 * DAY;
    while (high - low > 60_000) {
      const middle = low + Math.floor((high - low) / 120_000) * 60_000;
      if (offset(zone, middle) === before) low = middle;
      else high = middle;
    }
    return { zone, at: high };
  }
}

function field(low: number, high: number, spread: number): { text: string; values: number[] } {
  const all = range(low, high);
  const a = low + below(spread);
  const b = Math.min(high, a + below(6));
  const step = 2 + below(Math.min(8, high - low - 1));
  return pick([
    { text: `${a}`, values: [a] },
    { text: a === b ? `${a}` : `${a},${b}`, values: a === b ? [a] : [a, b] },
    { text: `${a}-${b}`, values: range(a, b) },
    { text: `${a}-${b}/2`, values: range(a, b).filter((value) => (value - a) % 2 === 0) },
    { text: `*/${step}`, values: all.filter((value) => (value - low) % step === 0) },
    { text: '*', values: all },
  ]);
}

function pattern(): { text: string; fields: Fields } {
  // Most changes of clocks happen between midnight and four, so most hours are picked there.
  const [minute, hour, day, month, weekday] = [
    field(0, 59, 54),
    field(0, 23, 4),
    field(1, 31, 26),
    field(1, 12, 12),
    field(0, 6, 7),
  ];
  const days = random() < 0.6 ? null : day;
  const months = random() < 0.8 ? null : month;
  const weekdays = random() < 0.6 ? null : weekday;
  const restriction = (chosen: typeof day | null) => (chosen === null || chosen.text === '*' ? null : chosen.values);
  return {
    text: [minute, hour, days, months, weekdays].map((chosen) => chosen?.text ?? '*').join(' '),
    fields: {
      minutes: minute.values,
      hours: hour.values,
      days: restriction(days),
      months: restriction(months),
      weekdays: restriction(weekdays),
      areBoth: [days, weekdays].some((chosen) => chosen === null || chosen.text.startsWith('*')),
    },
  };
}

/** One in four anywhere, the others close to a change of clocks. */
function randomSchedule(): { schedule: Schedule; plan: Plan; after: number } {
  const near = change();
  const eventful = random() < 0.75;
  const zone = eventful ? near.zone : pick(ZONES);
  const after = near.at + (below(5 * 60) - 3 * 60) * (eventful ? 60_000 : 3 * HOUR);
  const cron = random() < 0.5 ? pattern() : null;
  const recurrence = pick(['daily', 'daily', 'weekly', 'monthly', 'monthly', 'once'] as const);
  const days = pick(recurrence === 'weekly' ? [0, 7, 364, 3654] : [0, 1, 7, 28, 30, 31, 92, 365, 3650]);
  const first = near.at - days * DAY + (below(120) - 60) * 60_000 - below(2) * 30_500;
  return {
    schedule: { scheduledFor: new Date(first), recurrence, recurrencePattern: cron?.text ?? null, timezone: zone },
    plan: { first, zone, rule: cron?.fields ?? recurrence },
    after,
  };
}

const show = (at: number | null) => (at === null ? null : new Date(at).toISOString());

t.test('2,000 random schedules in all zones continue as a slow reading of the rules says', async (t) => {
  const wrong = [];
  for (let i = 0; i < 2000; i += 1) {
    const { schedule, plan, after } = randomSchedule();
    const got = nextOccurrence(schedule, new Date(after));
    const wanted = slowNext(plan, after);
    if (got?.getTime() !== wanted?.valueOf())
      wrong.push({ ...schedule, after: show(after), got, wanted: show(wanted) });
  }
  t.same(wrong.slice(0, 5), []);
  t.ok(
    seen.gap > 50 && seen.overlap > 50 && seen.once > 500,
    `all kinds of local time were met: ${JSON.stringify(seen)}`,
  );
});

t.test('200 random schedules that are followed for days skip, repeat and reverse nothing', async (t) => {
  const wrong = [];
  for (let i = 0; i < 200; i += 1) {
    const { schedule, plan, after } = randomSchedule();
    const until = after + 4 * DAY;
    const walked: number[] = [];
    for (
      let at = nextOccurrence(schedule, new Date(after));
      at !== null && at.getTime() <= until;
      at = nextOccurrence(schedule, at)
    ) {
      if (at.getTime() <= (walked.at(-1) ?? after)) throw new Error(`turned back at ${at.toISOString()}`);
      walked.push(at.getTime());
    }
    const wanted = slowList(plan, after, until);
    if (walked.join() !== wanted.join())
      wrong.push({ ...schedule, after: show(after), walked: walked.map(show), wanted: wanted.map(show) });
  }
  t.same(wrong.slice(0, 3), []);
});
