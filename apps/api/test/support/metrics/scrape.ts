import type { Registry } from '@prometheus-io/client';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

export interface Scrape {
  text: string;
  samples: Sample[];
  /** The type of each metric; histograms are named without `_bucket`, `_sum` and `_count`. */
  types: ReadonlyMap<string, string>;
  /** The sum of the samples with at least these labels, or undefined without any. */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

/** Parses the Prometheus text format 0.0.4. Throws for an invalid line. */
export function readScrape(text: string): Scrape {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n').filter(Boolean)) {
    const [, typed, type] = /^# TYPE (\S+) (\w+)$/.exec(line) ?? [];
    if (typed && type) types.set(typed, type);
    if (line.startsWith('#')) continue;
    const [, name, inside = '', number = ''] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
    const value = Number(number.replace('Inf', 'Infinity'));
    // The library writes NaN before the first measurement; Prometheus ignores the case.
    const isUnmeasured = number.toLowerCase() === 'nan';
    if (!name || (Number.isNaN(value) && !isUnmeasured)) throw new Error(`Invalid sample: ${line}`);
    const labels = [...inside.matchAll(/([a-z_]\w*)="((?:[^"\\]|\\.)*)"/gi)].map(([, label = '', value = '']) => [
      label,
      value,
    ]);
    samples.push({ name, labels: Object.fromEntries(labels), value });
  }
  return {
    text,
    samples,
    types,
    value(name, wanted = {}) {
      const found = samples.filter(
        (sample) =>
          sample.name === name && Object.entries(wanted).every(([label, value]) => sample.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

export const readRegistry = async (registry: Registry) => readScrape(await registry.metrics());

export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text}`);
  return readScrape(text);
}
