import { median } from './statistics.ts';

/** What one line of the report says: a figure of Carillon, that of a baseline from the same rounds, and the aim. */
export interface Comparison {
  /** What is measured, for a reader who has not seen the code. */
  what: string;
  unit: string;
  /** One value for each round. */
  values: readonly number[];
  baseline?: { name: string; values: readonly number[] } | { name: string; missing: string };
  /** Of the ratio to the baseline; of the median where there is none. */
  aim?: { atLeast: number } | { atMost: number };
  /** What a reader has to know to judge it. */
  note?: string;
}

/** Carillon's median divided by the baseline's; null where there is nothing to divide by. */
export function toRatio({ values, baseline }: Comparison): number | null {
  if (!baseline || 'missing' in baseline) return null;
  return median(values) / median(baseline.values);
}

/** Whether the aim is met; null where there is none, or its baseline was not measured. */
export function isAimMet(comparison: Comparison): boolean | null {
  const { aim, baseline, values } = comparison;
  const figure = baseline ? toRatio(comparison) : median(values);
  if (!aim || figure === null) return null;
  return 'atLeast' in aim ? figure >= aim.atLeast : figure <= aim.atMost;
}

/**
 * Takes the figures of all contestants, a round of everybody after the other, so that whatever else slows the machine
 * hits all of them. Who is first changes from round to round.
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
