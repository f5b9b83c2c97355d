import type { DatabaseServer } from './environment/servers/database-server.ts';
import type { Options } from './options.ts';
import { highest, lowest, median, spread } from './statistics.ts';

export interface Environment extends Options {
  /** The PostgreSQL of Carillon and of the baselines. */
  server: DatabaseServer;
}

/** A benchmark registers what it starts on `stack`, prints its progress and returns its rows of the report. */
export interface Benchmark {
  about: string;
  run(stack: AsyncDisposableStack, environment: Environment): Promise<Comparison[]>;
}

/** A row of the report. */
export interface Comparison {
  what: string;
  unit: string;
  /** One value per round. */
  values: readonly number[];
  baseline?: { name: string; values: readonly number[] } | { name: string; missing: string };
  /** For the ratio to the baseline, or for the median where there is no baseline. */
  aim?: { atLeast: number } | { atMost: number };
  /** Which round is the best one. Default: the highest of a rate (a unit that ends in `/s`), the lowest of everything else. */
  better?: 'higher' | 'lower';
  note?: string;
}

/** A baseline that varies more between rounds gives no reliable ratio. */
export const MAX_SPREAD = 0.15;

/** Carillon's median divided by the baseline's, or null without a measured baseline. */
export function toRatio({ values, baseline }: Comparison): number | null {
  if (!baseline || 'missing' in baseline) return null;
  return median(values) / median(baseline.values);
}

/** The best round of Carillon or of its baseline. */
export function findBest({ better, unit }: Comparison, values: readonly number[]): number {
  return (better ?? (unit.endsWith('/s') ? 'higher' : 'lower')) === 'higher' ? highest(values) : lowest(values);
}

/** The ratio of the best rounds, or null without a measured baseline. */
export function toBestRatio(comparison: Comparison): number | null {
  const { values, baseline } = comparison;
  if (!baseline || 'missing' in baseline) return null;
  return findBest(comparison, values) / findBest(comparison, baseline.values);
}

/** The spread of the baseline as a part of its median, or null without a baseline or with less than two rounds. */
export function toBaselineSpread({ baseline }: Comparison): number | null {
  if (!baseline || 'missing' in baseline || baseline.values.length < 2) return null;
  return spread(baseline.values);
}

/** Null without an aim or when its baseline was not measured. */
export function isAimMet(comparison: Comparison): boolean | null {
  const { aim, baseline, values } = comparison;
  const figure = baseline ? toRatio(comparison) : median(values);
  if (!aim || figure === null) return null;
  return 'atLeast' in aim ? figure >= aim.atLeast : figure <= aim.atMost;
}

/**
 * Measures all contestants once per round, so that other load on the machine affects them alike. The first one changes
 * from round to round.
 */
export async function measureInRounds<N extends string, T>(
  rounds: number,
  contestants: Record<N, (round: number) => Promise<T>>,
  describe: (figure: T) => string,
): Promise<Record<N, T[]>> {
  const names = Object.keys(contestants) as N[];
  const figures = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<N, T[]>;
  for (let round = 0; round < rounds; round++) {
    const first = round % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      const figure = await contestants[name](round);
      figures[name].push(figure);
      console.log(`  round ${round + 1} of ${rounds}, ${name}: ${describe(figure)}`);
    }
  }
  return figures;
}
