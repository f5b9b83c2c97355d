import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect, type Db } from '@carillon/db';
import { startEmbeddedPostgres } from '@carillon/db/embedded';
import { type Started, startProcess } from './processes.ts';

const program = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export interface Installation {
  db: Db;
  apiUrl: string;
  /** The prompts that have reached the provider, with the time of their arrival. */
  arrivals(): { at: number; prompt: string }[];
  api: Started;
  scheduler: Started;
  /** Where its files are. */
  folder: string;
  /** Takes the database away, and brings it back at the same address. */
  postgres: { stop(): Promise<void>; start(): Promise<void> };
}

export interface InstallationOptions {
  /** How long the provider takes for an answer. */
  aiDelayMs?: number;
  apiEnv?: Record<string, string>;
}

/**
 * A whole Carillon on loopback as in production: PostgreSQL that is safe against power cuts, API, scheduler and a
 * provider, a process each, logs on. All in a folder that goes away with `stack`.
 */
export async function install(stack: AsyncDisposableStack, options: InstallationOptions = {}): Promise<Installation> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-bench-'));
  // Root's server runs as another user, who has to get in.
  chmodSync(folder, 0o711);
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  let server = await startEmbeddedPostgres({ dataDir: folder });
  const databaseUrl = server.url;
  stack.defer(() => server.stop());
  const postgres = {
    stop: () => server.stop(),
    async start() {
      server = await startEmbeddedPostgres({ dataDir: folder });
    },
  };
  const { db, close } = connect(databaseUrl, { max: 2, applicationName: 'carillon bench' });
  stack.defer(close);

  const ai = await startProcess(stack, {
    name: 'provider',
    file: program('ai-server-main.ts'),
    folder,
    env: { DELAY_MS: String(options.aiDelayMs ?? 0) },
    ready: /^ready at (\S+)$/m,
  });
  const secret = () => randomBytes(32).toString('base64');
  const cronSecret = secret();
  const production = { NODE_ENV: 'production', CRON_SECRET: cronSecret };
  const api = await startProcess(stack, {
    name: 'api',
    file: program('../../api/src/main.ts'),
    folder,
    env: {
      ...production,
      PORT: '0',
      DATA_DIR: folder,
      DATABASE_URL: databaseUrl,
      AI_BASE_URL: ai.ready,
      STORAGE_DRIVER: 'disk',
      SMTP_URL: 'smtp://127.0.0.1:9',
      MAIL_FROM: 'carillon@example.com',
      JWT_SECRET: secret(),
      ENCRYPTION_KEY: secret(),
      ADMIN_KEY: secret(),
      RATE_LIMIT_MULTIPLIER: '100000',
      ...options.apiEnv,
    },
    ready: /Server listening at ([^\s"]+)/,
  });
  const scheduler = await startProcess(stack, {
    name: 'scheduler',
    file: program('../../scheduler/src/main.ts'),
    folder,
    env: { ...production, API_URL: api.ready },
    ready: /The scheduler triggers (\S+?)\./,
  });
  const arrivals = () =>
    ai
      .lines()
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  return { db, apiUrl: api.ready, arrivals, api, scheduler, folder, postgres };
}
