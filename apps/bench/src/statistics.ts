/** The value below which the share `q` of the sorted `values` lies (nearest rank). */
export function quantile(values: readonly number[], q: number): number {
  return values[Math.max(0, Math.ceil(q * values.length) - 1)] ?? Number.NaN;
}

export const sortAscending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

/** The middle of the values, in any order; of an even number the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const inOrder = sortAscending(values);
  const middle = inOrder.length / 2;
  return Number.isInteger(middle)
    ? ((inOrder[middle - 1] ?? Number.NaN) + (inOrder[middle] ?? Number.NaN)) / 2
    : (inOrder[Math.floor(middle)] ?? Number.NaN);
}

/** The 99th percentile of values in any order. */
export const p99 = (values: readonly number[]): number => quantile(sortAscending(values), 0.99);

/** A number with as many digits as mean something: `12,345`, `123`, `12.3`, `0.123`. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

/** Median, least and most of the rounds. */
export const formatSpread = (values: readonly number[]): string => {
  const inOrder = sortAscending(values);
  if (inOrder.length < 2) return formatNumber(median(values));
  return `${formatNumber(median(values))} (${formatNumber(inOrder[0] as number)} to ${formatNumber(inOrder.at(-1) as number)})`;
};

/** Prints min, median, 95th and 99th percentile and max of each row, in whole units of what they are. */
export function printPercentiles(table: Record<string, readonly number[]>): void {
  const columns = ['min', 'median', 'p95', 'p99', 'max'];
  const width = Math.max(...Object.keys(table).map((name) => name.length)) + 2;
  console.log(' '.repeat(width) + columns.map((column) => column.padStart(8)).join(''));
  for (const [name, values] of Object.entries(table)) {
    const inOrder = sortAscending(values);
    const figures = [0, 0.5, 0.95, 0.99, 1].map((q) => quantile(inOrder, q));
    console.log(name.padEnd(width) + figures.map((figure) => figure.toFixed(1).padStart(8)).join(''));
  }
}
