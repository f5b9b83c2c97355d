import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { connect } from '@carillon/db';
import { testDatabase } from '@carillon/db/test-database';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import type { Context, WorkerHandle } from '../../src/context.ts';
import { type AppOptions, buildApp } from '../../src/entry/app.ts';
import { startTracing } from '../../src/entry/open-context.ts';
import { type Ai, createAi } from '../../src/lib/ai/client.ts';
import { createProviderList } from '../../src/lib/ai/provider-list.ts';
import { loadConfig } from '../../src/lib/config/config.ts';
import { createHttpClient } from '../../src/lib/egress/client.ts';
import { createMail } from '../../src/lib/mail/transport.ts';
import { createSourceReader, type SourceReader } from '../../src/lib/sources/reader.ts';
import { createFileStorage, type FileStorage } from '../../src/lib/storage/client.ts';
import { loggerOptions } from '../../src/lib/telemetry/logger.ts';
import { type Metrics, NO_METRICS } from '../../src/lib/telemetry/metrics.ts';
import { NO_TRACE } from '../../src/lib/telemetry/tracing.ts';
import { createIntegrations } from '../../src/lib/third-party/integrations.ts';
import { createOAuth } from '../../src/lib/third-party/oauth.ts';
import { createApiKeyUse } from '../../src/product/auth/keys/use.ts';
import { createSessionTokens } from '../../src/product/auth/tokens.ts';
// Validates every response of every test against the contract.
import './contract/conformance.ts';

export const CRON_SECRET = 'the-scheduler-secret-of-the-tests-1234567890';
export const ADMIN_KEY = 'the-admin-key-of-the-tests-1234567890-abcdef';

/** The initial time of the test clock. */
export const START = new Date('2026-11-20T10:00:00.000Z');

export interface TestContextOptions extends AppOptions {
  env?: Record<string, string>;
  /** Default: according to `env`, otherwise the built-in model. */
  ai?: Ai;
  /** Default: `STORAGE_DRIVER` of `env`, otherwise data URLs; `disk` uses a temporary folder. */
  files?: FileStorage;
  /** Default: one that reaches what `SOURCES_ALLOW` of `env` names. */
  sources?: SourceReader;
  worker?: Partial<WorkerHandle>;
  /** Default: none. */
  metrics?: Metrics;
  /** Whether reads go to a server of `DATABASE_READ_URL`, which is the primary itself. Default: false. */
  readsReplica?: boolean;
}

export interface TestContext {
  ctx: Context;
  app: FastifyInstance;
  databaseUrl: string;
  /** Stands still until it is set or advanced. */
  clock: { set(to: Date | string): void; advance(ms: number): void };
  /** One object per log line. */
  logged: Record<string, unknown>[];
  /** Closes everything before the end of the test. */
  close(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

const contexts = new WeakMap<FastifyInstance, Context>();

/** Returns the context of an application of `testContext`. */
export function getContext(app: FastifyInstance): Context {
  const ctx = contexts.get(app);
  if (!ctx) throw new Error('This application was not created by testContext.');
  return ctx;
}

const noWorker: WorkerHandle = {
  wakeExecutions: () => {},
  wakeDeliveries: () => {},
  wakeLooks: () => {},
  abort: () => {},
  rescue: async () => [],
  stopping: new AbortController().signal,
  isAlive: () => true,
};

/** Creates an application with a database, a folder and a clock of its own. Closes them at the end of `t`. */
export async function testContext(t: Test, { env = {}, ...given }: TestContextOptions = {}): Promise<TestContext> {
  const database = await testDatabase();
  const { db, close: disconnect } = given.readsReplica ? connectReplica(database.url) : database;
  const dataDir = mkdtempSync(join(tmpdir(), 'carillon-test-'));
  const logged: Record<string, unknown>[] = [];
  let now = START;
  // A high multiplier keeps the rate limits out of tests of something else.
  const settings = { NODE_ENV: 'test', DATA_DIR: dataDir, CRON_SECRET, ADMIN_KEY, RATE_LIMIT_MULTIPLIER: '1000' };
  const config = loadConfig({ ...settings, ...env });
  const log = pino(loggerOptions(config), collectLines(logged));
  const providers = createProviderList(db, config);
  const ctx: Context = {
    db,
    now: () => new Date(now),
    log,
    config,
    tokens: await createSessionTokens(config),
    ai: given.ai ?? createAi(config.ai, log, providers),
    providers,
    http: createHttpClient(config),
    sources: given.sources ?? createSourceReader(config),
    mail: createMail(config.mail, log),
    files: given.files ?? createFileStorage(config),
    oauth: createOAuth(config),
    integrations: createIntegrations(config),
    metrics: given.metrics ?? NO_METRICS,
    trace: NO_TRACE,
    worker: { ...noWorker, ...given.worker },
    apiKeyUse: createApiKeyUse(db),
    waitingFor: null,
  };
  await startTracing(ctx);
  // Parallel tests delay the event loop.
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
  const closeAll = async () => {
    await app.close();
    await ctx.trace.close();
    await ctx.ai.close();
    await ctx.http.close();
    await ctx.sources.close();
    await ctx.integrations.close();
    await ctx.mail.close();
    await ctx.files.close();
    await disconnect();
    await database.close();
    rmSync(dataDir, { recursive: true, force: true });
  };
  const close = () => {
    closing ??= closeAll();
    return closing;
  };
  t.teardown(close);
  return { ctx, app, databaseUrl: database.url, clock, logged, close };
}

const connectReplica = (url: string) => connect(url, { deadlineMs: 30_000, replica: { url, sampleMs: 20 } });

function collectLines(into: Record<string, unknown>[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      for (const line of String(chunk).trim().split('\n')) into.push(JSON.parse(line));
      done();
    },
  });
}
