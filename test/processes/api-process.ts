import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CRON_SECRET } from '../../apps/api/test/support/context.ts';

const MAIN = fileURLToPath(new URL('../../apps/api/src/main.ts', import.meta.url));
const START_MS = 30_000;
const { NODE_COMPILE_CACHE, RESOLUTION_CACHE } = process.env;
/** The hook of `scripts/cache-resolution.ts`, which takes 0.3 s off the processor time of a start. */
const HOOKS = RESOLUTION_CACHE ? process.execArgv.filter((argument) => argument.startsWith('--import=')) : [];

interface Test {
  teardown(work: () => unknown): unknown;
}

export interface ApiProcess {
  url: string;
  pid: number;
  /** Its log lines so far, parsed. */
  log: Record<string, unknown>[];
  isAlive(): boolean;
  signal(name: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  end(name: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Resolves when it has exited. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Calls the scheduler trigger; by default waits until the claimed executions have ended. */
  tick(options?: { wait?: boolean }): Promise<Tick>;
}

export interface Tick {
  processed: number;
  failed: number;
  duration: number;
}

export interface Settings {
  databaseUrl: string;
  aiUrl: string;
  leaseMs?: number;
  env?: Record<string, string>;
}

/** Starts `main.ts` as a process of its own and waits until it listens; it is killed at the end of `t`. */
export async function startApiProcess(t: Test, { databaseUrl, aiUrl, leaseMs, env }: Settings): Promise<ApiProcess> {
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-api-'));
  const child = spawn(process.execPath, [...HOOKS, MAIN], {
    // The root of the repository may hold a developer's .env.
    cwd: dataDir,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE,
      RESOLUTION_CACHE,
      PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      AI_BASE_URL: aiUrl,
      CRON_SECRET,
      LOG_LEVEL: 'info',
      ...(leaseMs && { EXECUTION_LEASE_MS: String(leaseMs) }),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const ended = endOf(child).finally(() => {
    process.off('exit', kill);
    rmSync(dataDir, { recursive: true, force: true });
  });
  t.teardown(() => {
    kill();
    return ended;
  });

  const log: Record<string, unknown>[] = [];
  const url = await listening(child, log);
  return {
    url,
    pid: child.pid as number,
    log,
    ended,
    isAlive: () => child.exitCode === null && child.signalCode === null,
    signal: (name) => void child.kill(name),
    end: (name) => {
      child.kill(name);
      return ended;
    },
    tick: async ({ wait = true } = {}) => {
      const headers = { authorization: `Bearer ${CRON_SECRET}`, ...(wait ? {} : { prefer: 'respond-async' }) };
      const response = await fetch(`${url}/api/cron/scheduler`, { headers });
      if (response.status !== 200) throw new Error(`the trigger answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as Tick;
    },
  };
}

async function endOf(child: ChildProcess) {
  const [code, signal] = await once(child, 'exit');
  return { code: code as number | null, signal: signal as NodeJS.Signals | null };
}

/** Resolves to the address in its log; rejects if the process exits before. */
function listening(child: ChildProcess, log: Record<string, unknown>[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('it did not listen in time')), START_MS);
    child.once('exit', (code, signal) => reject(new Error(`it ended with ${signal ?? code} before it listened`)));
    let rest = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        // A warning of Node.js is no JSON.
        if (!line.startsWith('{')) continue;
        const entry = JSON.parse(line);
        log.push(entry);
        const [, url] = /^Server listening at (\S+)$/.exec(entry.msg) ?? [];
        if (!url) continue;
        clearTimeout(timer);
        resolve(url);
      }
    });
  });
}
