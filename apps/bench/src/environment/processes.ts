import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { pinned } from './cores.ts';
import { assertGoingOn, endWith } from './shutdown.ts';

const START_MS = 60_000;
/** What they hold is thrown away: whoever is slow to stop is made to. */
const END_MS = 5000;

export interface Started {
  pid: number;
  /** When it began, by `performance.now()`. */
  begunAt: number;
  /** What `ready` has found in its output. */
  ready: string;
  /** All of its output so far. */
  output(): string;
  /** Ends it before the stack does. */
  end(): Promise<void>;
  /** Sends it a signal, and leaves it to end in its own time. */
  signal(name: NodeJS.Signals): void;
  /** How it has ended: its exit code, or the signal that killed it. */
  exit: Promise<number | NodeJS.Signals>;
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
  patienceMs?: number;
  /** Where it runs, when the machine can say so: `pinned` of `cores.ts`. */
  core?: number | null;
  /** Options of Node itself. */
  nodeOptions?: readonly string[];
}

/** The path of a program of this package, from its place below `src`. */
export const programAt = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/**
 * Starts a process whose output goes to a file in `folder`, as in production, and waits until it says that it is ready.
 * It is asked to end when `stack` is disposed of, and made to when it does not.
 */
export async function startProcess(stack: AsyncDisposableStack, program: Program): Promise<Started> {
  const { name, file, folder, env, ready, patienceMs = START_MS, core = null, nodeOptions = [] } = program;
  assertGoingOn();
  const path = join(folder, `${name}.log`);
  const output = openSync(path, 'a');
  const from = readFileSync(path, 'utf8').length;
  const words = typeof file === 'string' ? [process.execPath, ...nodeOptions, file] : [...file];
  const [command = '', ...args] = pinned(words, core);
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const begunAt = performance.now();
  const child = spawn(command, args, {
    cwd: folder,
    env: { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }), ...env },
    // In a group of its own: Ctrl-C goes to the bench, which ends the rest in order.
    detached: true,
    stdio: ['ignore', output, output],
  });
  const exit = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  const ended = Promise.race([exit, once(child, 'error')]).catch(() => {});
  const isAlive = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const end = async () => {
    if (!isAlive()) return;
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await ended;
    clearTimeout(force);
  };
  endWith(stack, end);
  closeSync(output);

  const text = () => readFileSync(path, 'utf8').slice(from);
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const found = ready.exec(text());
    if (found) {
      const signal = (name: NodeJS.Signals) => void child.kill(name);
      return { pid: child.pid as number, begunAt, ready: found[1] ?? '', output: text, end, signal, exit };
    }
    if (!isAlive() || performance.now() > deadline) throw new Error(`The ${name} did not get ready:\n${tail(text())}`);
    await delay(10);
  }
}

const tail = (text: string) => text.trim().split('\n').slice(-30).join('\n').slice(-4000);
