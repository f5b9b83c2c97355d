import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { type CommandRequest, END_OF_OUTPUT } from './command-process.ts';

const CARILLON = fileURLToPath(new URL('../../src/carillon.ts', import.meta.url));
const COMMAND_PROCESS = fileURLToPath(new URL('command-process.ts', import.meta.url));

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Runs `carillon` in a process and a folder of its own, where it finds no developer's `.env`. */
export async function runCarillon(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  options: { cwd: string; input?: string; onStart?: (pid: number) => void },
): Promise<Ended> {
  const child = spawn(process.execPath, [CARILLON, ...args], { cwd: options.cwd, env: { ...processEnv(), ...env } });
  const exit = once(child, 'exit');
  options.onStart?.(child.pid ?? 0);
  child.stdin.end(options.input);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exit;
  return { code, out, err };
}

interface Test {
  teardown(work: () => unknown): unknown;
}

/**
 * Returns a function that runs commands one after the other in one process, because most take less time than a start.
 * Each file also runs its command by `runCarillon`, which shows that the process ends.
 */
export function openCarillon(t: Test) {
  let child: ChildProcess | null = null;
  t.teardown(() => child?.kill());
  return async (
    args: readonly string[],
    env: Readonly<Record<string, string>>,
    { cwd }: { cwd: string },
  ): Promise<Ended> => {
    child ??= spawn(process.execPath, [...process.execArgv, COMMAND_PROCESS], {
      env: processEnv(),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const { stdout, stderr } = child as { stdout: Readable; stderr: Readable };
    const ended = once(child, 'message');
    child.send({ args, env: { ...processEnv(), ...env }, cwd } satisfies CommandRequest);
    const [out, err] = await Promise.all([readToEnd(stdout), readToEnd(stderr)]);
    const [code] = await ended;
    return { code, out, err };
  };
}

function processEnv() {
  const { PATH = '', NODE_COMPILE_CACHE, RESOLUTION_CACHE } = process.env;
  return {
    PATH,
    NODE_ENV: 'test',
    ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }),
    ...(RESOLUTION_CACHE !== undefined && { RESOLUTION_CACHE }),
  };
}

/** Reads the output of one command. Throws what was printed if the process ends before. */
function readToEnd(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let read = '';
    const onData = (piece: string) => {
      read += piece;
      if (!read.endsWith(END_OF_OUTPUT)) return;
      stream.off('data', onData).off('end', onEnd);
      resolve(read.slice(0, -END_OF_OUTPUT.length));
    };
    const onEnd = () => reject(new Error(`The process has ended: ${read}`));
    stream.setEncoding('utf8').on('data', onData).on('end', onEnd);
  });
}
