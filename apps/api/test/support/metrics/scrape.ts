import type { Registry } from '@prometheus-io/client';

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** What a process told its monitoring. */
export interface Scrape {
  text: string;
  samples: Sample[];
  /** The metrics by their names, those of a histogram without `_bucket` and the like, with their types. */
  types: ReadonlyMap<string, string>;
  /** The sum of the samples with at least these labels; undefined where there is none. */
  value(name: string, labels?: Record<string, string>): number | undefined;
}

/** Reads the text format of Prometheus, version 0.0.4. Throws at what is no line of it. */
export function readScrape(text: string): Scrape {
  const types = new Map<string, string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n').filter(Boolean)) {
    const [, typed, type] = /^# TYPE (\S+) (\w+)$/.exec(line) ?? [];
    if (typed && type) types.set(typed, type);
    if (line.startsWith('#')) continue;
    const [, name, inside = '', written = ''] = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/i.exec(line) ?? [];
    const value = Number(written.replace('Inf', 'Infinity'));
    // Of the library, where nothing was measured yet; Prometheus reads it in any letter case.
    const isNothing = written.toLowerCase() === 'nan';
    if (!name || (Number.isNaN(value) && !isNothing)) throw new Error(`No sample: ${line}`);
    const labels = [...inside.matchAll(/([a-z_]\w*)="((?:[^"\\]|\\.)*)"/gi)].map(([, label = '', of = '']) => [
      label,
      of,
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

/** The same of a registry in this process. */
export const readRegistry = async (registry: Registry) => readScrape(await registry.metrics());

/** A real scrape. */
export async function scrape(url: string): Promise<Scrape> {
  const response = await fetch(url);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}: ${text}`);
  return readScrape(text);
}
