import { setTimeout as delay } from 'node:timers/promises';
import { releaseWhenKilled } from '@carillon/db/embedded/release';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import { findPrimary } from '@carillon/db/find-primary';
import { migrateDatabase } from '@carillon/db/migrate';
import { findPooling } from '@carillon/db/pool/pooling';
import type { Logger } from 'pino';
import { systemClock } from '../context.ts';
import type { Config } from '../lib/config/config.ts';
import { listenForWakeUps } from '../lib/queue/wake-ups.ts';
import { openLog } from '../lib/telemetry/logger.ts';
import { bootstrapAdmin } from '../product/auth/bootstrap-admin.ts';
import { findSetupPath } from '../product/auth/setup/link.ts';
import { createReadinessCheck } from '../product/system/health/readiness.ts';
import { buildApp } from './app.ts';
import { describeStart } from './describe-start.ts';
import { openContext, startTracing } from './open-context.ts';
import { waitForDatabase } from './wait-for-database.ts';
import { createWorker, GRACE_MS } from './worker.ts';

/** Until a proxy has noticed that new connections are refused. */
const KEEP_ALIVE_GRACE_MS = 5000;

export interface Api {
  /** With the port that it listens on. */
  url: string;
  /** Of the page that makes the first admin; null if there is no need. */
  setupPath: string | null;
  provider: string;
  mail: string;
  log: Logger;
  /** Completes requests and completes or hands back executions first. */
  close(): Promise<void>;
}

export interface StartOptions {
  /** Ends the wait for the database. */
  stopping?: AbortSignal;
  /** Until a stop ends requests and hands back executions. */
  graceMs?: number;
  now?: () => Date;
}

/**
 * Waits for the database until `stopping` is aborted, and throws its reason then. If a part fails, stops those already
 * started and throws.
 */
export async function startApi(
  config: Config,
  { stopping = new AbortController().signal, graceMs = GRACE_MS, now = systemClock }: StartOptions = {},
): Promise<Api> {
  await using starting = new AsyncDisposableStack();
  const log = await openLog(config);
  stopping.addEventListener('abort', () => log.info('stopping'), { once: true });
  starting.defer(() => {
    if (stopping.aborted) log.info('stopped');
  });
  let { databaseUrl } = config;
  if (databaseUrl === null) {
    const { url, stop } = await startEmbeddedPostgres({ dataDir: config.dataDir });
    const release = releaseWhenKilled(config.dataDir);
    starting.defer(() => stop().finally(release));
    databaseUrl = url;
  }
  const address = databaseUrl;
  const { ctx, poolState, close } = await openContext(config, address, log);
  starting.defer(close);
  ctx.now = now;
  for (const line of config.unknownVariables) ctx.log.warn(line);
  let metricsUrl: string | undefined;
  if (config.metrics) {
    // The Prometheus client loads parts of OpenTelemetry.
    const { startMetrics } = await import('../lib/telemetry/metrics-server.ts');
    const readReadiness = createReadinessCheck(ctx);
    const { metrics, url, close } = await startMetrics(config.metrics, {
      db: ctx.db,
      now: ctx.now,
      log: ctx.log,
      poolState,
      maxConnections: config.databasePool,
      readChecks: async () => (await readReadiness()).checks,
    });
    starting.defer(close);
    ctx.metrics = metrics;
    metricsUrl = url;
  }
  await startTracing(ctx);
  starting.defer(() => ctx.trace.close());
  const worker = createWorker(ctx, { graceMs });
  ctx.worker = worker;
  const app = await buildApp(ctx, { keepAliveGraceMs: config.production ? KEEP_ALIVE_GRACE_MS : 0 });
  // Concurrently: a waiting cron request needs the worker to end its executions.
  starting.defer(async () => {
    const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
    const delayMs = ctx.waitingFor === null ? config.shutdownDelayMs : 0;
    await Promise.all([worker.stop(), delay(delayMs).then(() => app.close())]);
    clearTimeout(cut);
    await ctx.apiKeyUse.flush().catch((error) => log.error({ err: error }, 'recording the use of API keys failed'));
  });
  let url: string | null = null;
  const listen = async () => {
    url ??= await app.listen({ host: config.host, port: config.port });
    return url;
  };
  const prepare = async () => {
    const pooling = await findPooling(await findPrimary(address), config.databasePrepare);
    const migrated = await migrateDatabase(config.databaseDirectUrl ?? address);
    await bootstrapAdmin(ctx);
    return { migrated, pooling, setupPath: await findSetupPath(ctx) };
  };
  const { migrated, pooling, setupPath } = await waitForDatabase(prepare, {
    log,
    signal: stopping,
    async onWait(reason) {
      ctx.waitingFor = reason;
      await listen();
    },
  });
  ctx.waitingFor = null;
  url = await listen();
  worker.start();
  const wake = { executions: worker.wakeExecutions, deliveries: worker.wakeDeliveries, looks: worker.wakeLooks };
  const wakeUps = config.databaseDirectUrl
    ? listenForWakeUps(config.databaseDirectUrl, wake)
    : listenForWakeUps(address, wake, { prepare: config.databasePrepare });
  starting.defer(wakeUps.close);
  const { list: providers } = await ctx.providers.load();
  const started = describeStart(config, { databaseUrl: address, migrated, pooling, url, metricsUrl, providers });
  log.info(started, 'started');

  const running = starting.move();
  const { provider, mail } = started;
  return { url, setupPath, provider, mail, log, close: () => running.disposeAsync() };
}
