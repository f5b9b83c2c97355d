import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { testDatabase } from '@carillon/db/test-database';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { type Ai, createAi } from '../../src/ai/client.ts';
import { type AppOptions, buildApp } from '../../src/app.ts';
import { createSessionTokens } from '../../src/auth/tokens.ts';
import { loadConfig } from '../../src/config/config.ts';
import type { Context, WorkerHandle } from '../../src/context.ts';
import { createHttpClient } from '../../src/egress/client.ts';
import { createMail } from '../../src/mail/transport.ts';
import { startTracing } from '../../src/open-context.ts';
import { createFileStorage, type FileStorage } from '../../src/storage/client.ts';
import { loggerOptions } from '../../src/telemetry/logger.ts';
import { type Metrics, NO_METRICS } from '../../src/telemetry/metrics.ts';
import { NO_TRACE } from '../../src/telemetry/tracing.ts';
import { createIntegrations } from '../../src/third-party/integrations.ts';
import { createOAuth } from '../../src/third-party/oauth.ts';
// Holds every answer of every test to the contract.
import './contract/conformance.ts';

export const CRON_SECRET = 'the-scheduler-secret-of-the-tests-1234567890';
export const ADMIN_KEY = 'the-admin-key-of-the-tests-1234567890-abcdef';

/** What the clock of a test says at first. */
export const START = new Date('2026-11-20T10:00:00.000Z');

export interface TestContextOptions extends AppOptions {
  env?: Record<string, string>;
  /** The built-in model unless told. */
  ai?: Ai;
  /** What `STORAGE_DRIVER` of `env` says unless told: data URLs, or with `disk` files in a folder of its own. */
  files?: FileStorage;
  worker?: Partial<WorkerHandle>;
  /** None are kept unless told. */
  metrics?: Metrics;
}

export interface TestContext {
  ctx: Context;
  app: FastifyInstance;
  /** Where the database is, for whatever else is to use it. */
  databaseUrl: string;
  /** Stands still until it is moved. */
  clock: { set(to: Date | string): void; advance(ms: number): void };
  /** What was logged, one object per line. */
  logged: Record<string, unknown>[];
  /** Closes it all before the end of the test. */
  close(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

const contexts = new WeakMap<FastifyInstance, Context>();

/** The context that an application of `testContext` was built with. */
export function getContext(app: FastifyInstance): Context {
  const ctx = contexts.get(app);
  if (!ctx) throw new Error('This application was not made by testContext.');
  return ctx;
}

const noWorker: WorkerHandle = {
  wakeExecutions: () => {},
  wakeDeliveries: () => {},
  abort: () => {},
  rescue: async () => [],
  stopping: new AbortController().signal,
  isAlive: () => true,
};

/** The application over a database, a folder and a clock of its own; all of it goes away at the end of `t`. */
export async function testContext(t: Test, { env = {}, ...given }: TestContextOptions = {}): Promise<TestContext> {
  const database = await testDatabase();
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-test-'));
  const logged: Record<string, unknown>[] = [];
  let now = START;
  // No limit is in the way of a test that is about something else.
  const settings = { NODE_ENV: 'test', DATA_DIR: dataDir, CRON_SECRET, ADMIN_KEY, RATE_LIMIT_MULTIPLIER: '1000' };
  const config = loadConfig({ ...settings, ...env });
  const log = pino(loggerOptions(config), collectLines(logged));
  const ctx: Context = {
    db: database.db,
    now: () => new Date(now),
    log,
    config,
    tokens: await createSessionTokens(config),
    ai: given.ai ?? createAi(config.ai),
    http: createHttpClient(config),
    mail: createMail(config.mail, log),
    files: given.files ?? createFileStorage(config),
    oauth: createOAuth(config),
    integrations: createIntegrations(config),
    metrics: given.metrics ?? NO_METRICS,
    trace: NO_TRACE,
    worker: { ...noWorker, ...given.worker },
  };
  await startTracing(ctx);
  // Tests share their process and their machine, and keep both busy.
  const app = await buildApp(ctx, { maxEventLoopDelayMs: Number.POSITIVE_INFINITY, ...given });
  contexts.set(app, ctx);
  const clock = {
    set: (to: Date | string) => {
      now = new Date(to);
    },
    advance: (ms: number) => {
      now = new Date(now.getTime() + ms);
    },
  };
  let closing: Promise<void> | undefined;
  const shut = async () => {
    await app.close();
    await ctx.trace.close();
    await ctx.ai.close();
    await ctx.http.close();
    await ctx.integrations.close();
    await ctx.mail.close();
    await ctx.files.close();
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const close = () => {
    closing ??= shut();
    return closing;
  };
  t.teardown(close);
  return { ctx, app, databaseUrl: database.url, clock, logged, close };
}

function collectLines(into: Record<string, unknown>[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      for (const line of String(chunk).trim().split('\n')) into.push(JSON.parse(line));
      done();
    },
  });
}
