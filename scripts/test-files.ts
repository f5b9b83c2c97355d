import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readTap, type Tally } from './tap-report.ts';

export interface Report extends Tally {
  /** The counts of each file that failed, by its path. */
  failures: Map<string, Tally>;
}

interface RunOptions {
  /** How many files run at a time. */
  jobs: number;
  env: NodeJS.ProcessEnv;
  /** A test file gives up after that and names what it waits for. Default: 240. */
  timeoutS?: number;
  print(line: string): void;
  /** Ends all running files together with the processes that they have started. */
  signal: AbortSignal;
}

const ROOT = resolve(import.meta.dirname, '..');
const TEST_PROCESS = resolve(import.meta.dirname, 'test-process.ts');
const PRELOADED = pathToFileURL(`${import.meta.dirname}/cache-resolution.ts`).href;
/** A file that does not give up in time is killed then. */
const GRACE_S = 15;
/** With more failed files than this, a busy machine is not the cause. */
const MAX_REPEATED_FILES = 3;
const MAX_FLAKY_FILES = 1;

type Groups = readonly (readonly string[])[];

/**
 * Runs all files, then once more and alone those that failed: tests that kill processes, race or wait for outages need
 * real time, which a busy machine may not give them. A file that passes alone is flaky, and two of them stay failed.
 */
export async function runAndRepeat(groups: Groups, options: RunOptions): Promise<Tally> {
  const { print, signal } = options;
  const first = await runFiles(groups, options);
  const repeated = [...first.failures.keys()];
  if (signal.aborted || repeated.length === 0 || repeated.length > MAX_REPEATED_FILES) return first;
  print(`Running again, one at a time: ${repeated.join(', ')}`);
  const alone = repeated.map((file) => [file]);
  const second = await runFiles(alone, { ...options, jobs: 1 });
  const flaky = repeated.filter((file) => !second.failures.has(file));
  for (const file of flaky) print(`Flaky: ${file} failed with other tests running and passed on its own.`);
  if (flaky.length > 0) print(`${flaky.length} flaky`);
  if (flaky.length > MAX_FLAKY_FILES) return first;
  const replaced = [...first.failures.values()];
  const total = (name: keyof Tally) =>
    first[name] + second[name] - replaced.reduce((sum, tally) => sum + tally[name], 0);
  return { passed: total('passed'), failed: total('failed'), skipped: total('skipped') };
}

/**
 * Runs each group of files in a process, by `node` and not by the command `tap`, which starts each with a recorder of all
 * files that it and its processes load: that takes longer than most tests. Prints a line for each file, after its failures.
 */
export async function runFiles(groups: Groups, options: RunOptions): Promise<Report> {
  const { jobs, print, signal } = options;
  const report: Report = { passed: 0, failed: 0, skipped: 0, failures: new Map() };
  const waiting = groups.map((files) => [...files]);
  const runNext = async () => {
    for (let files = waiting.shift(); files; files = waiting.shift()) {
      if (signal.aborted) return;
      const { lines, counts, rest } = await runGroup(files, options);
      waiting.unshift(...rest);
      for (const line of lines) print(line);
      for (const [file, { passed, failed, skipped }] of counts) {
        report.passed += passed;
        report.failed += failed;
        report.skipped += skipped;
        if (failed > 0) report.failures.set(file, { passed, failed, skipped });
      }
    }
  };
  await Promise.all(Array.from({ length: jobs }, runNext));
  return report;
}

interface GroupReport {
  lines: string[];
  counts: Map<string, Tally>;
  /** Files that still have to run, by process. */
  rest: string[][];
}

async function runGroup(files: readonly string[], { env, signal, timeoutS = 240 }: RunOptions): Promise<GroupReport> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [`--import=${PRELOADED}`, TEST_PROCESS], {
    cwd: ROOT,
    // Leads a process group, which ends as a whole.
    detached: true,
    // Not as arguments, of which `t.testdir` makes the name of its folder.
    env: { ...env, TAP_TIMEOUT: String(timeoutS), TEST_FILES: JSON.stringify(files) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const interrupt = () => killGroup(child, 'SIGTERM');
  signal.addEventListener('abort', interrupt);
  const timer = setTimeout(() => killGroup(child, 'SIGKILL'), (timeoutS + GRACE_S) * 1000 * files.length);
  const written: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => written.push(text.trimEnd()));
  const [reports, [code, killedBy]] = await Promise.all([
    readTap(child.stdout, (line) => written.push(line)),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  clearTimeout(timer);
  signal.removeEventListener('abort', interrupt);
  const end = killedBy ? `killed by ${killedBy}` : `exit code ${code}`;
  const hasFailed = files.some((file) => (reports.get(file)?.counts.failed ?? 0) > 0);
  const strays = [...reports.keys()].filter((name) => !files.includes(name));
  for (const name of strays) written.push(`Not part of a test file: ${name}`);
  const isBlamed = strays.length > 0 || (code !== 0 && !hasFailed);
  // Which of the files made the process end so? Each says for itself.
  if (isBlamed && files.length > 1 && !signal.aborted) {
    return { lines: written, counts: new Map(), rest: files.map((file) => [file]) };
  }
  const elapsed = performance.now() - startedAt;
  const ended = files.filter((file, at) => reports.has(file) || (at === 0 && reports.size === 0));
  const counts = new Map<string, Tally>();
  const lines = written;
  for (const file of ended) {
    const report = reports.get(file);
    const tally = report?.counts ?? { passed: 0, failed: 1, skipped: 0 };
    if (isBlamed && report) tally.failed += 1;
    counts.set(file, tally);
    const ms = files.length > 1 && report?.ms ? report.ms : elapsed;
    lines.push(...(report?.lines ?? []), fileLine(file, tally, ms, end));
  }
  const rest = files.filter((file) => !counts.has(file));
  return { lines, counts, rest: rest.length > 0 ? [rest] : [] };
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals) {
  try {
    process.kill(-(pid as number), signal);
  } catch {
    // All of its processes have ended.
  }
}

function fileLine(file: string, { passed, failed, skipped }: Tally, ms: number, end: string): string {
  const counts = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`];
  const line = `${failed > 0 ? '✗' : '✓'} ${file} (${counts.filter(Boolean).join(', ')}, ${Math.round(ms)} ms)`;
  return failed > 0 ? `${line}: ${end}` : line;
}
