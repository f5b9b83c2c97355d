import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { isAlive } from '@carillon/db/embedded/postmaster';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@carillon/db/embedded/server';
import postgres from 'postgres';
import root, { type Test } from 'tap';

const HOLDER = fileURLToPath(new URL('hold-server.ts', import.meta.url));

/** A new data folder. A server that still runs in it is stopped at the end of the test. */
export function folder(t: Test, name = 'data'): string {
  const outer = mkdtempSync(join(tmpdir(), 'carillon-embedded-'));
  // Root runs the server as another user, who needs access.
  chmodSync(outer, 0o755);
  const dataDir = join(outer, name);
  t.teardown(() => {
    const pid = serverPid(dataDir);
    if (pid && isAlive(pid)) process.kill(pid, 'SIGQUIT');
    rmSync(outer, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  return dataDir;
}

let prepared: Promise<string> | undefined;

/** A data folder with a cluster, copied from one that is created once per test file. */
export async function preparedFolder(t: Test, name?: string): Promise<string> {
  prepared ??= prepare();
  const dataDir = folder(t, name);
  mkdirSync(dataDir);
  await promisify(execFile)('cp', ['-a', join(await prepared, 'postgres'), dataDir]);
  return dataDir;
}

async function prepare(): Promise<string> {
  const dataDir = folder(root);
  const { stop } = await startEmbeddedPostgres({ dataDir, durable: false });
  await stop();
  return dataDir;
}

export async function start(t: Test, dataDir: string): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  t.teardown(server.stop);
  return server;
}

export function serverPid(dataDir: string): number | undefined {
  try {
    return Number(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]);
  } catch {
    return undefined;
  }
}

export async function ask(url: string, query: string): Promise<Record<string, unknown>[]> {
  const client = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return [...(await client.unsafe(query))];
  } finally {
    await client.end({ timeout: 0 });
  }
}

/** Starts or joins the server in another process, with its own session. */
export async function holder(t: Test, dataDir: string): Promise<{ url: string; child: ChildProcess }> {
  const child = launchHolder(t, dataDir);
  const [line] = await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  return { url: String(line).trim(), child };
}

export function launchHolder(t: Test, dataDir: string): ChildProcess {
  const child = spawn(process.execPath, [HOLDER, dataDir], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => killed(child));
  return child;
}

/** Kills the process with its group, which Ctrl-C or a closed terminal would also reach. */
export async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-(child.pid as number), 'SIGKILL');
  await ended;
}

export async function until(condition: () => boolean | Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`The condition was not met within ${timeoutMs / 1000} s.`);
    await sleep(5);
  }
}
