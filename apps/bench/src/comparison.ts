import { median } from './figures.ts';

/** What one line of the report says: a figure of Carillon, that of a yardstick from the same rounds, and the aim. */
export interface Comparison {
  /** What is measured, for a reader who has not seen the code. */
  what: string;
  unit: string;
  /** One value for each round. */
  values: readonly number[];
  yardstick?: { name: string; values: readonly number[] } | { name: string; missing: string };
  /** Of the ratio to the yardstick; of the median where there is none. */
  aim?: { atLeast: number } | { atMost: number };
  /** What a reader has to know to judge it. */
  note?: string;
}

/** Carillon's median divided by the yardstick's; null where there is nothing to divide by. */
export function ratioOf({ values, yardstick }: Comparison): number | null {
  if (!yardstick || 'missing' in yardstick) return null;
  return median(values) / median(yardstick.values);
}

/** Whether the aim is met; null where there is none, or its yardstick was not measured. */
export function isMet(comparison: Comparison): boolean | null {
  const { aim, yardstick, values } = comparison;
  const figure = yardstick ? ratioOf(comparison) : median(values);
  if (!aim || figure === null) return null;
  return 'atLeast' in aim ? figure >= aim.atLeast : figure <= aim.atMost;
}

/**
 * Takes the figures of all contestants, a round of everybody after the other, so that whatever else slows the machine
 * hits all of them. Who is first changes from round to round.
 */
export async function inRounds<N extends string, T>(
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
