import t from 'tap';
import { checkPattern } from '../../../api/src/product/schedule/pattern.ts';
import { nextOccurrence } from '../../../api/src/product/schedule/recurrence.ts';
import { formatCron } from '../../src/components/schedule/format-cron.ts';
import { parseCron, type Recurrence } from '../../src/components/schedule/recurrence-text.ts';

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** All words that a pattern can say, with some hours and minutes. */
function* listRecurrences(): Generator<Recurrence> {
  for (const minutes of [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30]) yield { every: 'minute', minutes };
  for (const minute of [0, 7, 59]) {
    for (const hours of [1, 2, 3, 4, 6, 8, 12]) yield { every: 'hour', hours, minute };
    for (const from of range(0, 22)) {
      for (const until of range(from + 1, 23)) yield { every: 'hour', hours: 1, minute, between: { from, until } };
    }
    for (const hour of [0, 2, 23]) {
      yield { every: 'day', hour, minute };
      for (const again of range(hour + 1, 23)) {
        yield { every: 'day', hour, again, minute };
        yield { every: 'week', days: [1, 5], hour, again, minute };
      }
      for (const bits of range(1, 126)) {
        const days = range(1, 7).filter((day) => (bits >> (day - 1)) & 1);
        yield { every: 'week', days, hour, minute };
      }
      for (const day of range(1, 31)) yield { every: 'month', day, inShortMonths: day <= 28, hour, minute };
      yield { every: 'month', day: 'last', inShortMonths: true, hour, minute };
      for (const weekday of range(1, 7)) {
        for (const nth of [...range(1, 5), 'last' as const])
          yield { every: 'month-weekday', nth, weekday, hour, minute };
      }
      for (const month of range(1, 12)) yield { every: 'year', month, day: 29, hour, minute };
      for (const months of [2, 3, 4, 6]) {
        for (const day of [...range(1, 28), 'last' as const]) yield { every: 'months', months, day, hour, minute };
      }
    }
  }
}

const sort = (words: Recurrence | null) => words && Object.entries(words).sort(([a], [b]) => (a < b ? -1 : 1));

const known = new Map<string, string[]>();

t.test('Words become a pattern that says the same words', async (t) => {
  const lost = [...listRecurrences()].filter((words) => {
    const cron = formatCron(words);
    return cron === null || JSON.stringify(sort(parseCron(cron))) !== JSON.stringify(sort(words));
  });
  t.same(lost, []);
});

t.test('Words without a pattern are those of a single run and of the last day of a shorter month', async (t) => {
  const time = { hour: 9, minute: 30 };
  t.equal(formatCron({ every: 'once' }), null);
  t.equal(formatCron({ every: 'day', interval: 2, ...time }), null);
  t.equal(formatCron({ every: 'month', day: 29, inShortMonths: true, ...time }), null);
  t.equal(formatCron({ every: 'month', day: 30, inShortMonths: true, ...time }), null);
  t.equal(formatCron({ every: 'month', day: 31, inShortMonths: true, ...time }), '30 9 L * *');
});

t.test('A pattern that has words keeps its runs when they become a pattern again', async (t) => {
  const seed = 20_261_122;
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const WEEKDAYS = [
    '0',
    '7',
    '1-5',
    '0-6',
    '1-7',
    '0,6',
    '6,0',
    '5-7',
    'SUN',
    'MON-FRI',
    'sat,sun',
    '1,1,3',
    '2-4,3-6',
    '0-0',
  ];
  let compared = 0;
  for (let at = 0; at < 6000; at += 1) {
    const fields = [
      pick(['*', '*/5', '*/7', '*/20', '0', '00', '7', '59', '5,10']),
      pick(['*', '*/2', '*/5', '*/6', '0', '09', '23', '8-10', '8-20/2', '9,17', '17,9']),
      pick(['*', '*', '1', '08', '28', '29', '30', '31', 'L', 'l', '1,15']),
      pick(['*', '*', '*', '*', '2', '12']),
      pick(['*', '*', ...WEEKDAYS, '5L', '1#2', '7l', 'mon#1']),
    ];
    const pattern = fields.join(pick([' ', '  ']));
    if (checkPattern(pattern, 'Europe/Berlin') !== null) continue;
    const words = parseCron(pattern);
    if (!words) continue;
    compared += 1;
    const again = formatCron(words) ?? '';
    t.same(listRuns(again), listRuns(pattern), `${pattern} and ${again}`);
  }
  t.ok(compared > 150, `${compared} patterns with seed ${seed}`);
});

/** The next runs across both changes of the clocks. */
function listRuns(recurrencePattern: string): string[] {
  const found = known.get(recurrencePattern);
  if (found) return found;
  const runs: string[] = [];
  const timezone = 'Europe/Berlin';
  for (const from of ['2026-03-28T12:00Z', '2026-10-24T12:00Z']) {
    const scheduledFor = new Date(from);
    let at = nextOccurrence({ scheduledFor, recurrence: 'daily', recurrencePattern, timezone }, scheduledFor);
    for (let count = 0; at !== null && count < 8; count += 1) {
      runs.push(at.toISOString());
      at = nextOccurrence({ scheduledFor, recurrence: 'daily', recurrencePattern, timezone }, at);
    }
  }
  known.set(recurrencePattern, runs);
  return runs;
}

/** Mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
