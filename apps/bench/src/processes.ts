import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const START_MS = 60_000;
const END_MS = 30_000;

export interface Started {
  pid: number;
  /** What `ready` has found in its output. */
  ready: string;
  /** All lines of its output so far. */
  lines(): string[];
}

export interface Program {
  name: string;
  file: string;
  folder: string;
  env: Record<string, string>;
  /** Its first group is handed back. */
  ready: RegExp;
}

/**
 * Starts a Node process whose output goes to a file in `folder`, as in production, and waits until it says that it is
 * ready. It is asked to end when `stack` is disposed of, and made to when it does not.
 */
export async function startProcess(stack: AsyncDisposableStack, program: Program): Promise<Started> {
  const { name, file, folder, env, ready } = program;
  const path = join(folder, `${name}.log`);
  const output = openSync(path, 'a');
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
    // In a group of its own: Ctrl-C goes to the bench, which ends the rest in order.
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const ended = once(child, 'exit');
  const isAlive = () => child.exitCode === null && child.signalCode === null;
  stack.defer(async () => {
    if (!isAlive()) return;
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), END_MS);
    await ended;
    clearTimeout(force);
  });

  const text = () => readFileSync(path, 'utf8');
  const deadline = performance.now() + START_MS;
  for (;;) {
    const found = ready.exec(text());
    if (found) return { pid: child.pid as number, ready: found[1] ?? '', lines: () => text().trim().split('\n') };
    if (!isAlive() || performance.now() > deadline) throw new Error(`The ${name} did not start:\n${text()}`);
    await delay(20);
  }
}
