import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@carillon/db/embedded/server';
import { migrateDatabase } from '@carillon/db/migrate';
import { buildApp } from './app.ts';
import { bootstrapAdmin } from './auth/bootstrap-admin.ts';
import type { Config } from './config/config.ts';
import { createReadinessCheck } from './health/readiness.ts';
import { openContext, startTracing } from './open-context.ts';
import { createWorker } from './worker.ts';

/** How long a shutdown waits for requests in flight; the same as for executions. */
const REQUEST_GRACE_MS = 20_000;
/** During a shutdown, idle connections of a proxy stay open until it has noticed that new ones are refused. */
const KEEP_ALIVE_GRACE_MS = 5000;

export interface Api {
  url: string;
  /** Graceful: serves open connections and completes or hands back running executions first. */
  close(): Promise<void>;
}

/** Starts database, HTTP and worker. If one fails, stops the ones already started and throws. */
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
  if (config.metrics) {
    // Imported on demand: the Prometheus client loads parts of OpenTelemetry.
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
  // Concurrently: a waiting request of the scheduler trigger needs its executions to end, and these need the worker.
  starting.defer(async () => {
    const cut = setTimeout(() => app.server.closeAllConnections(), REQUEST_GRACE_MS);
    // Readiness fails from here on.
    await Promise.all([worker.stop(), delay(config.shutdownDelayMs).then(() => app.close())]);
    clearTimeout(cut);
  });
  const url = await app.listen({ host: config.host, port: config.port });
  worker.start();

  const running = starting.move();
  return { url, close: () => running.disposeAsync() };
}
