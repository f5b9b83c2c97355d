import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { connect, type Db } from '@carillon/db';
import { type RunningProcess, resolveProgram, SERVER_CORE, startProcess } from '../../../../test/system/processes.ts';
import { type AiServer, monotonicMs, startAiServer } from '../../../../test/system/servers/ai-server.ts';
import { closeWith } from '../../../../test/system/shutdown.ts';
import type { Environment } from '../benchmark.ts';
import { printProfile } from '../profile.ts';

/** Statements of the benchmarks fill whole tables. */
const MAX_STATEMENT_MS = 15 * 60_000;

export interface Installation {
  db: Db;
  databaseUrl: string;
  apiUrl: string;
  ai: AiServer;
  api: RunningProcess;
  jwtSecret: string;
  cronSecret: string;
}

export interface InstallationOptions {
  apiEnv?: Record<string, string>;
  /** Default: a new AI server that answers immediately. */
  ai?: AiServer;
  databaseUrl?: string;
  /** Whether to start the scheduler process. Default: true. */
  scheduler?: boolean;
  /** The core of the API, or null for any. Default: `SERVER_CORE`. */
  core?: number | null;
}

/** Starts API, scheduler and AI server in production mode, logging to files, with a new database. Stops with `stack`. */
export async function install(
  stack: AsyncDisposableStack,
  { server, profile }: Environment,
  options: InstallationOptions = {},
): Promise<Installation> {
  const { folder } = server;
  const databaseUrl = options.databaseUrl ?? (await server.newDatabase());
  const db = connectDatabase(stack, databaseUrl);
  const ai = options.ai ?? (await startAiServer(stack, folder));
  const secret = () => randomBytes(32).toString('base64');
  const [jwtSecret, cronSecret] = [secret(), secret()];
  const production = { NODE_ENV: 'production', CRON_SECRET: cronSecret };
  const profiling = profile === null ? null : createProfiler(stack, profile);
  const api = await startProcess(stack, {
    name: 'api',
    file: resolveProgram('api/src/main.ts'),
    folder,
    core: options.core === undefined ? SERVER_CORE : options.core,
    // As in `pnpm api`.
    nodeOptions: ['--max-semi-space-size=16', ...(profiling?.nodeOptions ?? [])],
    env: {
      ...production,
      PORT: '0',
      DATA_DIR: folder,
      DATABASE_URL: databaseUrl,
      AI_BASE_URL: ai.url,
      STORAGE_DRIVER: 'disk',
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'carillon@example.com',
      JWT_SECRET: jwtSecret,
      ENCRYPTION_KEY: secret(),
      ADMIN_KEY: secret(),
      RATE_LIMIT_MULTIPLIER: '100000',
      ...options.apiEnv,
    },
    // The last line of a start: it has listened for some time.
    ready: /"url":"([^"]+)".*"msg":"started"/,
  });
  profiling?.markReady();
  if (options.scheduler ?? true) {
    await startProcess(stack, {
      name: 'scheduler',
      file: resolveProgram('scheduler/src/main.ts'),
      folder,
      env: { ...production, API_URL: api.ready },
      ready: /The scheduler triggers (\S+?)\./,
    });
  }
  return { db, databaseUrl, apiUrl: api.ready, ai, api, jwtSecret, cronSecret };
}

/** Options that make a process write a CPU profile, which is printed from `markReady` on when the process has exited. */
function createProfiler(stack: AsyncDisposableStack, folder: string) {
  const name = `api-${Date.now()}.cpuprofile`;
  let readyAt = Number.NaN;
  // The stack closes in reverse order: this runs after the process has exited.
  closeWith(stack, async () => {
    if (Number.isFinite(readyAt)) printProfile(join(folder, name), readyAt);
  });
  return {
    nodeOptions: ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}`],
    markReady: () => {
      readyAt = monotonicMs();
    },
  };
}

export function connectDatabase(stack: AsyncDisposableStack, url: string): Db {
  const { db, close } = connect(url, { max: 4, applicationName: 'carillon bench', deadlineMs: MAX_STATEMENT_MS });
  closeWith(stack, close);
  return db;
}
