import tap, { type Test } from 'tap';
import { countRuns } from '../../src/product/schedule/count-runs.ts';
import { findRun, type Plan } from '../../src/product/schedule/next-run.ts';

const HOUR = 3_600_000;
const BERLIN = 'Europe/Berlin';

const plan = (recurrencePattern: string | null, given: Partial<Plan> = {}): Plan => ({
  scheduledFor: new Date('2026-01-01T08:00:00Z'),
  recurrence: 'daily',
  recurrencePattern,
  timezone: BERLIN,
  ...given,
});

/** Visits each run. */
function visitRuns(task: Plan, boundaries: readonly number[]): number[] {
  const counts = boundaries.slice(1).map(() => 0);
  let left = (task.maxRuns ?? Number.POSITIVE_INFINITY) - (task.plannedRuns ?? 0);
  for (let run = findRun(task, (boundaries[0] as number) - 1); run && left > 0; run = findRun(task, run.at)) {
    const { at } = run;
    if (at >= (boundaries.at(-1) as number)) break;
    counts[boundaries.findIndex((boundary) => boundary > at) - 1]! += 1;
    left -= 1;
  }
  return counts;
}

const halfHours = (from: string, count = 48) => {
  const start = new Date(from).getTime();
  return Array.from({ length: count + 1 }, (_, at) => start + (at * HOUR) / 2);
};

const PATTERNS = [
  null,
  '* * * * *',
  '*/2 * * * *',
  '0,30 8-17 * * 1-5',
  '15 2 * * *',
  '30 2 L * *',
  '* 2 * * *',
  '5 0 1,15 * 1',
  '0 12 * * 5#2',
  '59 23 * * *',
  '0 0 * * *',
];

tap.test('The runs of each period are those that a visit of each run counts', (t: Test) => {
  const days = [
    '2026-11-24T05:28:17.250Z',
    '2026-03-28T20:10:00Z',
    '2026-10-24T21:00:00Z',
    '2026-11-30T23:00:00Z',
    '2025-12-31T12:00:00Z',
  ];
  const zones = [BERLIN, 'UTC', 'Asia/Kolkata', 'Australia/Lord_Howe', 'America/St_Johns'];
  for (const timezone of zones) {
    for (const day of days) {
      for (const pattern of PATTERNS) {
        const task = plan(pattern, { timezone });
        t.same(
          countRuns(task, halfHours(day)),
          visitRuns(task, halfHours(day)),
          `${pattern} in ${timezone} from ${day}`,
        );
      }
    }
  }
  t.end();
});

tap.test('The end, the pause and the number of runs of a task are kept', (t: Test) => {
  const boundaries = halfHours('2026-11-24T05:28:00Z');
  const limits = [
    { maxRuns: 100, plannedRuns: 35 },
    { maxRuns: 5, plannedRuns: 5 },
    { endsAt: new Date('2026-11-24T08:05:30Z') },
    { pausedUntil: new Date('2026-11-24T20:00:00Z') },
    { scheduledFor: new Date('2026-11-24T09:10:20Z') },
  ];
  for (const limit of limits) {
    const task = plan('* * * * *', limit);
    t.same(countRuns(task, boundaries), visitRuns(task, boundaries), JSON.stringify(limit));
  }
  t.end();
});

tap.test('Counting a month of a task of every minute visits its days, not its runs', (t: Test) => {
  const start = Date.parse('2026-11-01T00:00:00Z');
  const days = Array.from({ length: 31 }, (_, day) => start + day * 24 * HOUR);
  t.same(
    countRuns(plan('* * * * *'), days),
    days.slice(1).map(() => 1440),
  );
  const startedAt = performance.now();
  for (let task = 0; task < 100; task += 1) countRuns(plan('* * * * *'), days);
  t.comment(`100 tasks take ${Math.round(performance.now() - startedAt)} ms`);
  t.end();
});
