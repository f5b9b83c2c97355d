import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_LINES = 15;

/** The CPU profile that Node writes. */
export interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  samples: number[];
  timeDeltas: number[];
  /** Microseconds of the monotonic clock. */
  startTime: number;
}

/** The functions with the most time of their own. */
export interface ProfileSummary {
  /** Milliseconds without the idle time. */
  busyMs: number;
  lines: { share: number; where: string }[];
}

/** Prints the summary of the CPU profile at `path` from `sinceMs` of the monotonic clock on. */
export function printProfile(path: string, sinceMs: number): void {
  if (!existsSync(path)) {
    console.log(`\n  ${path} is missing: the process was killed before it wrote it.`);
    return;
  }
  const { busyMs, lines } = summarizeProfile(JSON.parse(readFileSync(path, 'utf8')), sinceMs);
  console.log(`\n  ${path}: ${Math.round(busyMs)} ms of CPU time since it was ready`);
  for (const { share, where } of lines) console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${where}`);
}

export function summarizeProfile({ nodes, samples, timeDeltas, startTime }: Profile, sinceMs: number): ProfileSummary {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, describeFrame(callFrame)]));
  const selfTimes = new Map<string, number>();
  let at = startTime;
  samples.forEach((sample, n) => {
    const duration = timeDeltas[n + 1] ?? 0;
    at += timeDeltas[n] ?? 0;
    const name = names.get(sample) ?? '';
    if (at / 1000 >= sinceMs && name !== '(idle)') selfTimes.set(name, (selfTimes.get(name) ?? 0) + duration);
  });
  const busy = [...selfTimes.values()].reduce((sum, time) => sum + time, 0);
  const lines = [...selfTimes]
    .sort(([, a], [, b]) => b - a)
    .slice(0, MAX_LINES)
    .map(([where, time]) => ({ share: time / busy, where }));
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
