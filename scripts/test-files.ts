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
  print(line: string): void;
  /** Ends all running files together with the processes that they have started. */
  signal: AbortSignal;
}

const ROOT = resolve(import.meta.dirname, '..');
const PRELOADED = pathToFileURL(`${import.meta.dirname}/cache-resolution.ts`).href;
/** A test file gives up after that and names what it waits for. */
const TIMEOUT_S = 240;
/** A file that has not even given up then is killed. */
const KILLED_AFTER_MS = (TIMEOUT_S + 15) * 1000;

/**
 * Runs each file as `node <file>`, because the command `tap` starts each of them with a recorder of all files that it and
 * its processes load, which takes longer than most tests. Prints a line for each file, after its failures and what it wrote.
 */
export async function runFiles(files: readonly string[], options: RunOptions): Promise<Report> {
  const { jobs, print, signal } = options;
  const report: Report = { passed: 0, failed: 0, skipped: 0, failures: new Map() };
  const waiting = files.values();
  const runNext = async () => {
    for (const file of waiting) {
      if (signal.aborted) return;
      const { lines, counts } = await runFile(file, options);
      for (const line of lines) print(line);
      report.passed += counts.passed;
      report.failed += counts.failed;
      report.skipped += counts.skipped;
      if (counts.failed > 0) report.failures.set(file, counts);
    }
  };
  await Promise.all(Array.from({ length: jobs }, runNext));
  return report;
}

async function runFile(file: string, { env, signal }: RunOptions): Promise<{ lines: string[]; counts: Tally }> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [`--import=${PRELOADED}`, file], {
    cwd: ROOT,
    // Leads a process group, which ends as a whole.
    detached: true,
    env: { ...env, TAP_TIMEOUT: String(TIMEOUT_S) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const interrupt = () => killGroup(child, 'SIGTERM');
  signal.addEventListener('abort', interrupt);
  const timer = setTimeout(() => killGroup(child, 'SIGKILL'), KILLED_AFTER_MS);
  const lines: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.push(text.trimEnd()));
  const [counts, [code, killedBy]] = await Promise.all([
    readTap(child.stdout, file, (line) => lines.push(line)),
    once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  clearTimeout(timer);
  signal.removeEventListener('abort', interrupt);
  if (code !== 0 && counts.failed === 0) counts.failed = 1;
  lines.push(
    fileLine(file, counts, performance.now() - startedAt, killedBy ? `killed by ${killedBy}` : `exit code ${code}`),
  );
  return { lines, counts };
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
