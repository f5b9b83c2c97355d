/** The nearest-rank quantile of sorted values. */
export function quantile(values: readonly number[], q: number): number {
  return values[Math.max(0, Math.ceil(q * values.length) - 1)] ?? Number.NaN;
}

export const sortAscending = (values: readonly number[]): number[] => [...values].sort((a, b) => a - b);

export function median(values: readonly number[]): number {
  const ascending = sortAscending(values);
  const middle = ascending.length / 2;
  return Number.isInteger(middle)
    ? ((ascending[middle - 1] ?? Number.NaN) + (ascending[middle] ?? Number.NaN)) / 2
    : (ascending[Math.floor(middle)] ?? Number.NaN);
}

export const lowest = (values: readonly number[]): number => sortAscending(values)[0] ?? Number.NaN;
export const highest = (values: readonly number[]): number => sortAscending(values).at(-1) ?? Number.NaN;

/** The distance from the lowest to the highest value as a part of the median. */
export const spread = (values: readonly number[]): number => (highest(values) - lowest(values)) / median(values);

export const p99 = (values: readonly number[]): number => quantile(sortAscending(values), 0.99);

/** Three significant digits: `12,345`, `123`, `12.3`, `0.123`. */
export function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  const decimals = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString('en-US', { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}
