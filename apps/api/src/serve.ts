import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@carillon/db/embedded';
import { migrateDatabase } from '@carillon/db/migrate';
import { buildApp } from './app.ts';
import { bootstrapAdmin } from './auth/bootstrap-admin.ts';
import type { Config } from './config/config.ts';
import { openContext } from './open-context.ts';
import { traceContext } from './trace-context.ts';
import { createWorker } from './worker.ts';

/** How long a shutdown waits for requests under way, as long as for executions. */
const REQUEST_GRACE_MS = 20_000;
/**
 * How long a connection that a proxy keeps may be unused before a shutdown closes it, long enough for the proxy to have
 * noticed that the process takes no new ones. A developer waits for nothing.
 */
const LINGER_MS = 5000;

/** An API that listens, with its worker at work. */
export interface Api {
  /** Where it really listens, `http://127.0.0.1:3000`. */
  url: string;
  /**
   * Claims nothing more, takes no new connection once `SHUTDOWN_DELAY_MS` has passed, answers what comes over the
   * connections that are open, lets what runs end or hands it back, and closes the rest in reverse order.
   */
  close(): Promise<void>;
}

/**
 * Starts the API process: database (an embedded one where `DATABASE_URL` is unset), migrations, HTTP, worker. When one
 * of them fails, what was already started is stopped again and the error is thrown.
 */
export async function startApi(config: Config): Promise<Api> {
  await using starting = new AsyncDisposableStack();
  const databaseUrl = config.databaseUrl ?? (await startEmbedded(config, starting));
  await migrateDatabase(databaseUrl);
  const { ctx, poolState, close } = await openContext(config, databaseUrl);
  starting.defer(close);
  if (config.metrics) {
    // Its library loads much, parts of OpenTelemetry among it.
    const { watchProcess } = await import('./telemetry/watch-process.ts');
    starting.use(await watchProcess(ctx, config.metrics, poolState));
  }
  starting.defer(await traceContext(ctx));
  const worker = createWorker(ctx);
  ctx.worker = worker;
  await bootstrapAdmin(ctx);
  const app = await buildApp(ctx, { lingerMs: config.production ? LINGER_MS : 0 });
  // Together: a call of the scheduler trigger waits for executions, and these for their place among the requests.
  starting.defer(async () => {
    const cut = setTimeout(() => app.server.closeAllConnections(), REQUEST_GRACE_MS);
    // From now on the process says that it is not ready.
    await Promise.all([worker.stop(), delay(config.shutdownDelayMs).then(() => app.close())]);
    clearTimeout(cut);
  });
  const url = await app.listen({ host: config.host, port: config.port });
  worker.start();

  const running = starting.move();
  return { url, close: () => running.disposeAsync() };
}

async function startEmbedded(config: Config, starting: AsyncDisposableStack): Promise<string> {
  const { url, stop } = await startEmbeddedPostgres({ dataDir: config.dataDir });
  starting.defer(stop);
  return url;
}
