import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_LINES = 15;

/** What Node writes. */
export interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
  /** Microseconds of the stopwatch that all processes share. */
  startTime: number;
}

/** Where a process spent its time from some moment on: the functions with the most of their own. */
export interface ProfileSummary {
  /** Milliseconds in which it was not idle. */
  busyMs: number;
  lines: { share: number; where: string }[];
}

/** Prints where a process spent its time from `sinceMs` on, by the stopwatch, as the CPU profile at `path` knows it. */
export function printProfile(path: string, sinceMs: number): void {
  if (!existsSync(path)) {
    console.log(`\n  ${path} is missing: the process had to be killed before it wrote it.`);
    return;
  }
  const { busyMs, lines } = summarizeProfile(JSON.parse(readFileSync(path, 'utf8')), sinceMs);
  console.log(`\n  ${path}: busy for ${Math.round(busyMs)} ms since it was ready`);
  for (const { share, where } of lines) console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`);
}

/** Shares of the time in which the process was not idle, by function, from `sinceMs` on. */
export function summarizeProfile({ nodes, samples, timeDeltas, startTime }: Profile, sinceMs: number): ProfileSummary {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, describeFrame(callFrame)]));
  const own = new Map<string, number>();
  let at = startTime;
  samples.forEach((sample, n) => {
    const took = timeDeltas[n + 1] ?? 0;
    at += timeDeltas[n] ?? 0;
    const name = names.get(sample) ?? '';
    if (at / 1000 >= sinceMs && name !== '(idle)') own.set(name, (own.get(name) ?? 0) + took);
  });
  const busy = [...own.values()].reduce((sum, took) => sum + took, 0);
  const lines = [...own]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_LINES)
    .map(([where, took]) => ({ share: took / busy, where }));
  return { busyMs: busy / 1000, lines };
}

function describeFrame({ functionName, url, lineNumber }: Profile['nodes'][number]['callFrame']): string {
  const name = functionName || '(anonymous)';
  if (url === '') return name;
  const path = url
    .replace(/^file:\/\//, '')
    .replace(ROOT, '')
    .replace(/^.*\/node_modules\//, '');
  return `${name} ${path}:${lineNumber + 1}`;
}
