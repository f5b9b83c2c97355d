import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { assertNotShuttingDown, closeWith } from './shutdown.ts';

/** Whether a process can be told on which core it runs: `taskset` is there, and more than one core. */
export const canPin: boolean =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true'], { stdio: 'ignore' }).status === 0;

/** The server that is measured. Load, providers and receivers are on the other one, and PostgreSQL wherever it likes. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

/** A command line as it is run on `core`; null: wherever the system likes. The process has the same id either way. */
export const pinToCore = (words: readonly string[], core: number | null): string[] =>
  core !== null && canPin ? ['taskset', '-c', String(core), ...words] : [...words];

const DEFAULT_TIMEOUT_MS = 60_000;
/** What they hold is thrown away: whoever is slow to stop is made to. */
const STOP_GRACE_MS = 5000;

export interface RunningProcess {
  pid: number;
  /** When it began, by `performance.now()`. */
  startedAt: number;
  /** What `ready` has found in its output. */
  ready: string;
  /** All of its output so far. */
  output(): string;
  /** Ends it before the stack does. */
  stop(): Promise<void>;
  /** Sends it a signal, and leaves it to end in its own time. */
  signal(name: NodeJS.Signals): void;
  /** How it has ended: its exit code, or the signal that killed it. */
  exited: Promise<number | NodeJS.Signals>;
}

export interface Program {
  name: string;
  /** A Node program by its path, or any other by its command line. */
  file: string | readonly [string, ...string[]];
  folder: string;
  env?: Record<string, string>;
  /** Its first group is handed back. */
  ready: RegExp;
  /** How long it may take to be ready; a minute unless told. */
  timeoutMs?: number;
  /** Where it runs, when the machine can say so: `pinned` of `cores.ts`. */
  core?: number | null;
  /** Options of Node itself. */
  nodeOptions?: readonly string[];
}

/** The path of a program of this package, from its place below `src`. */
export const resolveProgram = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * Starts a process whose output goes to a file in `folder`, as in production, and waits until it says that it is ready.
 * It is asked to end when `stack` is disposed of, and made to when it does not.
 */
export async function startProcess(stack: AsyncDisposableStack, program: Program): Promise<RunningProcess> {
  const { name, file, folder, env, ready, timeoutMs = DEFAULT_TIMEOUT_MS, core = null, nodeOptions = [] } = program;
  assertNotShuttingDown();
  const path = join(folder, `${name}.log`);
  const output = openSync(path, 'a');
  const from = readFileSync(path, 'utf8').length;
  const words = typeof file === 'string' ? [process.execPath, ...nodeOptions, file] : [...file];
  const [command = '', ...args] = pinToCore(words, core);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...env },
    // In a group of its own: Ctrl-C goes to the bench, which ends the rest in order.
    detached: true,
    stdio: ['ignore', output, output],
  });
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const ended = Promise.race([exited, once(child, 'error')]).catch(() => {});
  const isAlive = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const stop = async () => {
    if (!isAlive()) return;
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
    await ended;
    clearTimeout(force);
  };
  closeWith(stack, stop);
  closeSync(output);

  const text = () => readFileSync(path, 'utf8').slice(from);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = ready.exec(text());
    if (found) {
      const signal = (name: NodeJS.Signals) => void child.kill(name);
      return { pid: child.pid as number, startedAt, ready: found[1] ?? '', output: text, stop, signal, exited };
    }
    if (!isAlive() || performance.now() > deadline) throw new Error(`The ${name} did not get ready:\n${tail(text())}`);
    await delay(10);
  }
}

const tail = (text: string) => text.trim().split('\n').slice(-30).join('\n').slice(-4000);
