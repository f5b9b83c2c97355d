import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import { migrateDatabase } from '@carillon/db/migrate';
import { buildApp } from './app.ts';
import { bootstrapAdmin } from './auth/bootstrap-admin.ts';
import type { Config } from './config/config.ts';
import { createReadinessCheck } from './health/readiness.ts';
import { openContext, startTracing } from './open-context.ts';
import { createWorker } from './worker.ts';

const REQUEST_GRACE_MS = 20_000;
/** Until a proxy has noticed that new connections are refused. */
const KEEP_ALIVE_GRACE_MS = 5000;

export interface Api {
  url: string;
  /** Completes requests and completes or hands back executions first. */
  close(): Promise<void>;
}

/** If a part fails, stops those already started and throws. */
export async function startApi(config: Config): Promise<Api> {
  await using starting = new AsyncDisposableStack();
  let { databaseUrl } = config;
  if (databaseUrl === null) {
    const { url, stop } = await startEmbeddedPostgres({ dataDir: config.dataDir });
    starting.defer(stop);
    databaseUrl = url;
  }
  await migrateDatabase(databaseUrl);
  const { ctx, poolState, close } = await openContext(config, databaseUrl);
  starting.defer(close);
  for (const line of config.unknownVariables) ctx.log.warn(line);
  if (config.metrics) {
    // The Prometheus client loads parts of OpenTelemetry.
    const { startMetrics } = await import('./telemetry/metrics-server.ts');
    const readReadiness = createReadinessCheck(ctx);
    const { metrics, close } = await startMetrics(config.metrics, {
      db: ctx.db,
      now: ctx.now,
      log: ctx.log,
      poolState,
      maxConnections: config.databasePool,
      readChecks: async () => (await readReadiness()).checks,
    });
    starting.defer(close);
    ctx.metrics = metrics;
  }
  await startTracing(ctx);
  starting.defer(() => ctx.trace.close());
  const worker = createWorker(ctx);
  ctx.worker = worker;
  await bootstrapAdmin(ctx);
  const app = await buildApp(ctx, { keepAliveGraceMs: config.production ? KEEP_ALIVE_GRACE_MS : 0 });
  // Concurrently: a waiting cron request needs the worker to end its executions.
  starting.defer(async () => {
    const cut = setTimeout(() => app.server.closeAllConnections(), REQUEST_GRACE_MS);
    await Promise.all([worker.stop(), delay(config.shutdownDelayMs).then(() => app.close())]);
    clearTimeout(cut);
  });
  const url = await app.listen({ host: config.host, port: config.port });
  worker.start();

  const running = starting.move();
  return { url, close: () => running.disposeAsync() };
}
