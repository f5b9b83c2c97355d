import { formatNumber } from '../statistics.ts';
import { MEASURED_RATES } from './durations.ts';
import { type Prediction, type Scenario, simulate } from './installation.ts';

const RUNS = 10_000;
const IMMEDIATE = [0, 0] as const;
const SECOND = [1000, 1000] as const;
const PROCESSES = [1, 2, 4, 8, 16, 32, 64];
const DATABASES = [1, 2, 3];
/** Of each database, which has a machine of its own; each API process has a core. */
const DATABASE_CORES = 8;

/** As the benchmarks of RESULTS.md: everything on two cores. */
const BENCHMARK = { slots: 200, runs: RUNS, callMs: IMMEDIATE, cores: { shared: 2 }, areNew: true };
const COMPARED: Record<keyof typeof MEASURED_RATES, { what: string; scenario: Scenario }> = {
  one: { what: 'one process', scenario: { ...BENCHMARK, processes: 1 } },
  two: { what: 'two processes', scenario: { ...BENCHMARK, processes: 2 } },
  four: { what: 'four processes', scenario: { ...BENCHMARK, processes: 4 } },
  warm: { what: 'one that has run before', scenario: { ...BENCHMARK, processes: 1, areNew: false } },
  slow: {
    what: 'one, calls of 0.5 to 1.5 s, 1000 at once',
    scenario: { ...BENCHMARK, processes: 1, slots: 1000, callMs: [500, 1500] },
  },
};

export interface ComparedRate {
  what: string;
  source: string;
  /** Runs per second. */
  measured: number;
  predicted: number;
  /** Of the predicted rate from the measured one, as a part of it. */
  deviation: number;
}

/** The predictions of what RESULTS.md has measured. */
export function compareWithMeasured(): ComparedRate[] {
  return Object.entries(COMPARED).map(([key, { what, scenario }]) => {
    const { source, rate: measured } = MEASURED_RATES[key as keyof typeof MEASURED_RATES];
    const predicted = simulate(scenario).rate;
    return { what, source, measured, predicted, deviation: predicted / measured - 1 };
  });
}

interface Capacity {
  processes: number;
  /** Runs per second with each number of databases, or null with fewer processes than databases. */
  immediate: (number | null)[];
  second: (number | null)[];
  /** With one database and immediate answers. */
  claims: Pick<Prediction, 'waiting' | 'claiming'>;
}

/** What installations carry whose processes, and users, are divided between databases that know nothing of each other. */
export function predictCapacities(): Capacity[] {
  const predict = remember((processes: number, callMs: readonly [number, number]) =>
    simulate({ processes, slots: 100, runs: RUNS, callMs, cores: { database: DATABASE_CORES }, areNew: false }),
  );
  const sum = (processes: number, databases: number, callMs: readonly [number, number]) => {
    if (processes < databases) return null;
    const sizes = Array.from({ length: databases }, (_, n) => Math.floor((processes + n) / databases));
    return sizes.reduce((rate, size) => rate + predict(size, callMs).rate, 0);
  };
  return PROCESSES.map((processes) => ({
    processes,
    immediate: DATABASES.map((databases) => sum(processes, databases, IMMEDIATE)),
    second: DATABASES.map((databases) => sum(processes, databases, SECOND)),
    claims: predict(processes, IMMEDIATE),
  }));
}

function remember<A extends readonly unknown[], T>(compute: (...args: A) => T): (...args: A) => T {
  const known = new Map<string, T>();
  return (...args) => {
    const key = JSON.stringify(args);
    const value = known.get(key) ?? compute(...args);
    known.set(key, value);
    return value;
  };
}

const FAILOVER_S = 20;
const DUE_PER_SECOND = [5, 100, 1000];
const CATCHING_UP = [2, 8];

interface CatchUp {
  perSecond: number;
  /** With each number of processes: until the last run that became due during the failover has started. */
  lastStartMs: number[];
}

/** What becomes due during a failover is due together after it. Calls take a second. */
export const predictCatchUps = (): CatchUp[] =>
  DUE_PER_SECOND.map((perSecond) => ({
    perSecond,
    lastStartMs: CATCHING_UP.map((processes) => {
      const cores = { database: DATABASE_CORES };
      const runs = perSecond * FAILOVER_S;
      return simulate({ processes, slots: 100, runs, callMs: SECOND, cores, areNew: false }).lastStartMs;
    }),
  }));

const percent = (part: number) => `${Math.round(part * 100)} %`;
const round = (rate: number | null) => (rate === null ? '–' : Number(rate.toPrecision(2)).toLocaleString('en-US'));
const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

/** As Markdown, in runs per second. */
export const formatCompared = (compared: readonly ComparedRate[]): string[] => [
  row(['Processes on two cores', 'Row of RESULTS.md', 'Measured', 'Predicted', 'Deviation']),
  row(['---', '---', '---', '---', '---']),
  ...compared.map(({ what, source, measured, predicted, deviation }) =>
    row([
      what,
      `\`${source}\``,
      formatNumber(measured),
      formatNumber(predicted),
      `${deviation > 0 ? '+' : '−'}${percent(Math.abs(deviation))}`,
    ]),
  ),
];

/** As Markdown, in runs per second. */
export const formatCapacities = (capacities: readonly Capacity[]): string[] => [
  row([
    'API processes',
    ...DATABASES.map((count) => (count === 1 ? '1 database' : `${count} databases`)),
    'Claims in progress',
    'Waiting for one',
    ...DATABASES.map((count) => `calls of 1 s, ${count === 1 ? '1 database' : `${count} databases`}`),
  ]),
  row(Array.from({ length: 3 + 2 * DATABASES.length }, () => '---')),
  ...capacities.map(({ processes, immediate, second, claims }) =>
    row([
      String(processes),
      ...immediate.map(round),
      percent(claims.claiming / 100),
      percent(claims.waiting / 100),
      ...second.map(round),
    ]),
  ),
];

/** As Markdown. */
export const formatCatchUps = (catchUps: readonly CatchUp[]): string[] => [
  row([
    'Due a second',
    `Due in a failover of ${FAILOVER_S} s`,
    ...CATCHING_UP.map((processes) => `${processes} API processes: the last one starts after`),
  ]),
  row(['---', '---', ...CATCHING_UP.map(() => '---')]),
  ...catchUps.map(({ perSecond, lastStartMs }) =>
    row([
      formatNumber(perSecond),
      formatNumber(perSecond * FAILOVER_S),
      ...lastStartMs.map((ms) => `${formatNumber(ms / 1000)} s`),
    ]),
  ),
];
