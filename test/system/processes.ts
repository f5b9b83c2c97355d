import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { assertNotShuttingDown, closeWith } from './shutdown.ts';

/** Whether processes can be pinned to a core. */
export const canPin: boolean =
  availableParallelism() > 1 && spawnSync('taskset', ['-c', '0', 'true'], { stdio: 'ignore' }).status === 0;

/** The core of the measured server; load generator, AI server and receivers use the other. PostgreSQL is not pinned. */
export const SERVER_CORE = 0;
export const LOAD_CORE = 1;

export const pinToCore = (command: readonly string[], core: number | null): string[] =>
  core !== null && canPin ? ['taskset', '-c', String(core), ...command] : [...command];

const DEFAULT_TIMEOUT_MS = 60_000;
const STOP_GRACE_MS = 5000;

export interface RunningProcess {
  pid: number;
  /** By `performance.now()`. */
  startedAt: number;
  /** The first group of `ready`. */
  ready: string;
  output(): string;
  stop(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Resolves with the exit code, or the signal that killed it. */
  exited: Promise<number | NodeJS.Signals>;
}

export interface Program {
  name: string;
  /** The path of a Node program, or a command line. */
  file: string | readonly [string, ...string[]];
  folder: string;
  env?: Record<string, string>;
  /** Matches the output when the process is ready. */
  ready: RegExp;
  /** Time to get ready. Default: a minute. */
  timeoutMs?: number;
  /** The core, or null for any. */
  core?: number | null;
  nodeOptions?: readonly string[];
}

/** Resolves a path below `apps`. */
export const resolveProgram = (path: string): string => fileURLToPath(new URL(`../../apps/${path}`, import.meta.url));

/** Starts a process, logs its output to a file in `folder` and waits until it is ready. Stops it with `stack`. */
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
    // Its own process group: Ctrl-C reaches only the test or the benchmark, which stops the others in order.
    detached: true,
    stdio: ['ignore', output, output],
  });
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const terminated = Promise.race([exited, once(child, 'error')]).catch(() => {});
  const isAlive = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const stop = async () => {
    if (!isAlive()) return;
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
    await terminated;
    clearTimeout(force);
  };
  closeWith(stack, stop);
  closeSync(output);

  const text = () => readFileSync(path, 'utf8').slice(from);
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const match = ready.exec(text());
    if (match) {
      const signal = (name: NodeJS.Signals) => void child.kill(name);
      return { pid: child.pid as number, startedAt, ready: match[1] ?? '', output: text, stop, signal, exited };
    }
    if (!isAlive() || performance.now() > deadline) throw new Error(`${name} did not get ready:\n${tail(text())}`);
    await delay(10);
  }
}

const tail = (text: string) => text.trim().split('\n').slice(-30).join('\n').slice(-4000);
