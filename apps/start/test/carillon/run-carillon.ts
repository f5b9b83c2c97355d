import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const CARILLON = fileURLToPath(new URL('../../src/carillon.ts', import.meta.url));

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
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  const child = spawn(process.execPath, [CARILLON, ...args], {
    cwd: options.cwd,
    env: { PATH, NODE_COMPILE_CACHE, NODE_ENV: 'test', ...env },
  });
  const exit = once(child, 'exit');
  options.onStart?.(child.pid ?? 0);
  child.stdin.end(options.input);
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await exit;
  return { code, out, err };
}
