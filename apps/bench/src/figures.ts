/** The value below which the share `q` of the sorted `values` lies (nearest rank). */
export function quantile(values: readonly number[], q: number): number {
  return values[Math.max(0, Math.ceil(q * values.length) - 1)] ?? Number.NaN;
}

/** Prints min, median, 95th and 99th percentile and max of each row, in whole units of what they are. */
export function printFigures(table: Record<string, readonly number[]>): void {
  const columns = ['min', 'median', 'p95', 'p99', 'max'];
  const width = Math.max(...Object.keys(table).map((name) => name.length)) + 2;
  console.log(' '.repeat(width) + columns.map((column) => column.padStart(8)).join(''));
  for (const [name, values] of Object.entries(table)) {
    const sorted = [...values].sort((a, b) => a - b);
    const figures = [0, 0.5, 0.95, 0.99, 1].map((q) => quantile(sorted, q));
    console.log(name.padEnd(width) + figures.map((figure) => figure.toFixed(1).padStart(8)).join(''));
  }
}
