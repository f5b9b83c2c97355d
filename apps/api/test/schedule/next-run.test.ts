import t from 'tap';
import {
  findEnd,
  listDueOccurrences,
  nextRun,
  type Plan,
  type RunLimits,
} from '../../src/product/schedule/next-run.ts';
import { previewOccurrences } from '../../src/product/schedule/preview.ts';
import { nextOccurrence } from '../../src/product/schedule/recurrence.ts';
import { buildSchedule, type Rule } from './cases.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const ZONES = Intl.supportedValuesOf('timeZone');
const RULES: Rule[] = [
  'once',
  'daily',
  'weekly',
  'monthly',
  '*/30 * * * *',
  '30 1 * * *',
  '15 */2 * * 0',
  '0 2 31 * *',
];

let state = 20_261_122;
/** mulberry32: the same plans on every machine. */
function random(): number {
  state = (state + 0x6d2b79f5) | 0;
  let x = Math.imul(state ^ (state >>> 15), 1 | state);
  x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
  return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
}
const below = (limit: number) => Math.floor(random() * limit);
const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
const maybe = <T>(make: () => T): T | null => (below(3) === 0 ? null : make());

/** Instants around one at which the clocks of Europe change, or of North America. */
const near = (days: number) =>
  new Date(
    pick([Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1), Date.UTC(2026, 2, 8, 10)]) +
      below(2 * days * 48) * (HOUR / 2) -
      days * DAY,
  );

function randomPlan(): Plan {
  const schedule = buildSchedule(pick(RULES), pick(ZONES), near(40).toISOString());
  const limits: RunLimits = {
    endsAt: maybe(() => near(20)),
    pausedUntil: maybe(() => near(20)),
    maxRuns: maybe(() => 1 + below(6)),
    plannedRuns: below(4),
  };
  // Instants of the schedule itself are the edges.
  const runs = [nextOccurrence(schedule, near(20)), nextOccurrence(schedule, near(20))];
  if (below(3) === 0) limits.endsAt = runs[0] ?? null;
  if (below(3) === 0) limits.pausedUntil = runs[1] ?? null;
  return { ...schedule, ...limits };
}

/** Every instant of the schedule one by one, then those that the limits leave. */
function filterOneByOne(plan: Plan, after: Date, count: number): Date[] {
  const { endsAt = null, pausedUntil = null, maxRuns = null, plannedRuns = 0 } = plan;
  const wanted = maxRuns === null ? count : Math.min(count, Math.max(0, maxRuns - plannedRuns));
  const found: Date[] = [];
  let at = nextOccurrence(plan, after);
  for (let i = 0; i < 20_000 && at !== null && found.length < wanted; i += 1) {
    if (endsAt !== null && at >= endsAt) break;
    if (pausedUntil === null || at >= pausedUntil) found.push(at);
    at = nextOccurrence(plan, at);
  }
  return found;
}

t.test('The next runs are those instants of the schedule that end, pause and number of runs leave', async (t) => {
  let [empty, cut, whole] = [0, 0, 0];
  for (let i = 0; i < 1500; i += 1) {
    const plan = randomPlan();
    const after = near(25);
    const expected = filterOneByOne(plan, after, 4);
    const shown = previewOccurrences(plan, after, 4).map(({ at }) => at);
    if (expected.length === 0) empty += 1;
    else if (expected.length < 4) cut += 1;
    else whole += 1;
    const wrong = JSON.stringify([plan, after, expected, shown, nextRun(plan, after)]);
    t.ok(JSON.stringify(shown) === JSON.stringify(expected), i % 500 === 0 ? 'preview' : `preview ${wrong}`);
    t.equal(nextRun(plan, after)?.toISOString(), expected[0]?.toISOString(), wrong);
    t.equal(findEnd(plan, after) === null, expected.length > 0, wrong);
  }
  t.ok(empty > 50 && cut > 50 && whole > 50, `${empty} plans without runs, ${cut} that end, ${whole} that go on`);
});

const daily = { ...buildSchedule('daily', 'UTC', '2026-11-20T09:00:00Z'), plannedRuns: 0 };
const at = (text: string) => new Date(`2026-11-${text}:00Z`);

t.test('A run at the end is left out, and one a millisecond before it is planned', async (t) => {
  t.equal(nextRun({ ...daily, endsAt: at('21T09:00') }, at('20T09:00')), null);
  t.same(nextRun({ ...daily, endsAt: new Date('2026-11-21T09:00:00.001Z') }, at('20T09:00')), at('21T09:00'));
});

t.test('A run at the end of a pause is planned, and one a millisecond before it is left out', async (t) => {
  t.same(nextRun({ ...daily, pausedUntil: at('22T09:00') }, at('20T09:00')), at('22T09:00'));
  t.same(nextRun({ ...daily, pausedUntil: new Date('2026-11-22T09:00:00.001Z') }, at('20T09:00')), at('23T09:00'));
});

t.test('A pause over a change of the clocks ends at the wall-clock time of the schedule', async (t) => {
  // Lisbon has summer time from 29 March, 01:00 UTC to 25 October, 01:00 UTC.
  const lisbon = buildSchedule('30 1 * * *', 'Europe/Lisbon', '2026-01-01T01:30:00Z');
  const next = (pausedUntil: string) =>
    nextRun({ ...lisbon, pausedUntil: new Date(pausedUntil) }, new Date('2026-03-20T00:00Z'))?.toISOString();
  t.equal(next('2026-03-28T12:00:00Z'), '2026-03-29T01:30:00.000Z', '01:30 is skipped: 02:30 summer time');
  t.equal(next('2026-03-29T01:30:00Z'), '2026-03-29T01:30:00.000Z');
  t.equal(next('2026-03-29T01:30:00.001Z'), '2026-03-30T00:30:00.000Z');
  t.equal(next('2026-10-25T00:00:00Z'), '2026-10-25T00:30:00.000Z', 'the first 01:30 of two');
  t.equal(next('2026-10-25T00:45:00Z'), '2026-10-26T01:30:00.000Z', 'the second 01:30 is no run');
});

t.test('The field that leaves no run is found', async (t) => {
  const end = (limits: Partial<RunLimits>) => findEnd({ ...daily, ...limits }, at('20T10:00'));
  t.equal(end({}), null);
  t.equal(end({ maxRuns: 3, plannedRuns: 3 }), 'maxRuns');
  t.equal(end({ endsAt: at('21T09:00') }), 'endsAt');
  t.equal(end({ endsAt: at('25T00:00'), pausedUntil: at('24T10:00') }), 'pausedUntil');
  t.equal(findEnd({ ...daily, recurrence: 'once' }, at('20T10:00')), 'scheduledFor');
});

t.test('No occurrence is due at or after the end', async (t) => {
  const plan = { ...daily, endsAt: at('23T09:00') };
  t.same(listDueOccurrences(plan, at('20T09:00'), at('28T12:00')), {
    missed: [at('20T09:00'), at('21T09:00')],
    latest: at('22T09:00'),
    next: null,
  });
});

t.test('A preview notes the pause before the first run and why no run follows the last', async (t) => {
  const notes = (limits: Partial<RunLimits>) =>
    previewOccurrences({ ...daily, timezone: 'Europe/Berlin', ...limits }, at('20T10:00'), 3).map(({ note }) => note);
  t.same(notes({ pausedUntil: at('24T00:00') }), [
    'The task is paused until 2026-11-24T01:00:00+01:00[Europe/Berlin].',
    undefined,
    undefined,
  ]);
  t.same(notes({ pausedUntil: at('21T09:00') }), [undefined, undefined, undefined], 'a pause that leaves out no run');
  t.same(notes({ maxRuns: 4, plannedRuns: 2 }), [undefined, 'This is the last of 4 planned runs.']);
  t.same(notes({ maxRuns: 4 }), [undefined, undefined, undefined], 'the last is not among them');
  t.same(notes({ endsAt: at('22T12:00'), maxRuns: 9 }), [
    undefined,
    'This is the last run before the task ends at 2026-11-22T13:00:00+01:00[Europe/Berlin].',
  ]);
  t.same(notes({ endsAt: at('23T12:00') })[2]?.startsWith('This is the last run'), true, 'the last of the list');
});
