import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import {
  type Comparison,
  isAimMet,
  measureInRounds,
  toBaselineSpread,
  toBestRatio,
  toRatio,
} from '../src/benchmark.ts';
import { summarizeProfile } from '../src/profile.ts';
import { buildReport, type Outcome, toCells, writeReport } from '../src/report.ts';
import { formatNumber, median, quantile } from '../src/statistics.ts';

const comparison: Comparison = {
  what: 'executions',
  unit: 'executions/s',
  values: [900, 1100, 1000],
  baseline: { name: 'pg-boss', values: [480, 500, 2000] },
  aim: { atLeast: 2 },
};
const run = {
  at: new Date('2026-11-20T10:00:00Z'),
  postgres: '18.4',
  rounds: 3,
  quick: false,
  largest: 1e6,
  minutes: 120,
  profile: null,
  logs: null,
};
const outcome: Outcome = { name: 'executions', about: 'how many', comparisons: [comparison] };

t.test('A quantile is the value of the nearest rank', async (t) => {
  const values = Array.from({ length: 200 }, (_, index) => index + 1);
  t.strictSame(
    [0, 0.5, 0.95, 0.99, 1].map((q) => quantile(values, q)),
    [1, 100, 190, 198, 200],
  );
  t.equal(quantile([7], 0.5), 7);
});

t.test('A median is the middle value, or the mean of the two in the middle', async (t) => {
  t.equal(median([9, 1, 5]), 5);
  t.equal(median([1, 2, 10, 3]), 2.5);
});

t.test('The ratio is that of the medians and decides whether the aim is met', async (t) => {
  t.equal(toRatio(comparison), 2);
  t.equal(isAimMet(comparison), true);
  t.equal(isAimMet({ ...comparison, aim: { atLeast: 2.1 } }), false);
  t.equal(isAimMet({ ...comparison, aim: { atMost: 1.9 } }), false);
  t.equal(isAimMet({ what: 'start', unit: 'ms', values: [900], aim: { atMost: 1000 } }), true);
});

t.test('Without an aim or a measured baseline, nothing is met or missed', async (t) => {
  const { aim: _aim, ...aimless } = comparison;
  t.equal(isAimMet(aimless), null);
  const missing = { ...comparison, baseline: { name: 'BullMQ', missing: 'no redis-server' } };
  t.equal(isAimMet(missing), null);
  t.match(toCells(missing)[2], 'BullMQ: not measured, no redis-server');
});

t.test(
  'The best round of a rate is the highest, of anything else the lowest, unless the row says otherwise',
  async (t) => {
    t.equal(toBestRatio(comparison), 0.55);
    t.equal(toBestRatio({ ...comparison, unit: 'ms' }), 900 / 480);
    t.equal(toBestRatio({ ...comparison, unit: 'hits', better: 'higher' }), 0.55);
    t.equal(toBestRatio({ what: 'start', unit: 'ms', values: [900] }), null);
  },
);

t.test('A row has median, minimum and maximum of both, the ratios, the aim and whether it is met', async (t) => {
  t.strictSame(toCells({ ...comparison, baseline: { name: 'pg-boss', values: [480, 500, 520] } }), [
    'executions',
    '1,000 (900 to **1,100**) executions/s',
    'pg-boss: 500 (480 to **520**) executions/s',
    '8 %',
    '2.00',
    '2.12',
    '≥ 2.00 ×',
    'yes',
  ]);
  t.match(toCells({ ...comparison, unit: 'ms' })[1], '1,000 (**900** to 1,100) ms');
  t.match(toCells({ ...comparison, values: [3] })[1], '3.00 executions/s');
  t.strictSame([12345.6, 12.34, 0.1234].map(formatNumber), ['12,346', '12.3', '0.123']);
});

t.test('A baseline that varies by more than 15 % of its median is marked', async (t) => {
  const variesBy = (...values: number[]) => ({ ...comparison, baseline: { name: 'pg-boss', values } });
  t.equal(toCells(variesBy(100, 92.5, 107.5))[3], '15 %');
  t.equal(toCells(variesBy(100, 92, 108))[3], '**16 %**');
  t.equal(toBaselineSpread(variesBy(500)), null);
  t.equal(toBaselineSpread({ ...comparison, baseline: { name: 'BullMQ', missing: 'no redis-server' } }), null);
});

t.test('Contestants alternate, and the first one changes with each round', async (t) => {
  const order: string[] = [];
  const one = (name: string) => async () => order.push(name);
  const figures = await measureInRounds(2, { a: one('a'), b: one('b'), c: one('c') }, String);
  t.strictSame(order, ['a', 'b', 'c', 'b', 'c', 'a']);
  t.strictSame(figures.a, [1, 6]);
});

t.test('The report names day, machine, versions and rounds, and the reason of a missing measurement', async (t) => {
  const failed: Outcome = { name: 'tick', about: 'one tick', failed: 'The disk is full.\n at somewhere' };
  const text = buildReport({ ...run, outcomes: [outcome, failed] });
  t.match(text, '- 2026-11-20 10:00 UTC');
  t.match(text, /^- \d+ cores \(.+\), \d+ GiB of memory$/m);
  t.match(text, `- Node ${process.version}, PostgreSQL 18.4`);
  t.match(text, /^- Packages .+: .*fastify \d+\.\d+\.\d+.* pg-boss \d+\.\d+\.\d+/m);
  t.match(text, '- 3 rounds, tables of up to 1,000,000 rows');
  t.match(text, '| executions | 1,000 (900 to **1,100**) executions/s |');
  t.match(text, '## tick\n\nOne tick.\n\nNot measured: The disk is full.\n');
});

t.test('The section "Notes" survives the next run', async (t) => {
  const path = join(t.testdir({}), 'RESULTS.md');
  writeReport(path, { ...run, outcomes: [outcome] });
  t.match(readFileSync(path, 'utf8'), /\n## Notes\n\nNone yet/);
  writeFileSync(path, '# Results\n\nold\n\n## Notes\n\nThe disk limits it.\n');
  writeReport(path, { ...run, outcomes: [outcome] });
  const text = readFileSync(path, 'utf8');
  t.match(text, /\n## Notes\n\nThe disk limits it.\n$/);
  t.notMatch(text, '\nold\n');
  t.equal(text.match(/## Notes/g)?.length, 1);
});

t.test('A profile is summarized from the given moment on, without idle time', async (t) => {
  const frame = (functionName: string) => ({ functionName, url: '', lineNumber: 0 });
  const nodes = ['start', '(idle)', 'work', 'rest'].map((name, id) => ({ id, callFrame: frame(name) }));
  const profile = {
    nodes,
    startTime: 1_000_000,
    samples: [0, 0, 1, 2, 2, 3],
    timeDeltas: [0, 1000, 1000, 3000, 3000, 3000],
  };
  const { busyMs, lines } = summarizeProfile(profile, 1002);
  t.equal(busyMs, 6);
  t.strictSame(lines, [
    { share: 1, where: 'work' },
    { share: 0, where: 'rest' },
  ]);
});
