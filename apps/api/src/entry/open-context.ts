import type { PoolState } from '@carillon/db';
import { connect } from '@carillon/db';
import type { Logger } from 'pino';
import { type Context, systemClock, type WorkerHandle } from '../context.ts';
import { createAi } from '../lib/ai/client.ts';
import { createProviderList } from '../lib/ai/provider-list.ts';
import type { Config } from '../lib/config/config.ts';
import { createHttpClient } from '../lib/egress/client.ts';
import { createMail } from '../lib/mail/transport.ts';
import { createRemoteWakeUps } from '../lib/queue/wake-ups.ts';
import { createSourceReader } from '../lib/sources/reader.ts';
import { createFileStorage } from '../lib/storage/client.ts';
import { openLog } from '../lib/telemetry/logger.ts';
import { NO_METRICS } from '../lib/telemetry/metrics.ts';
import { logReplicaChanges } from '../lib/telemetry/replica-log.ts';
import { NO_TRACE } from '../lib/telemetry/tracing.ts';
import { createIntegrations } from '../lib/third-party/integrations.ts';
import { createOAuth } from '../lib/third-party/oauth.ts';
import { createApiKeyUse } from '../product/auth/keys/use.ts';
import { NO_TOKENS } from '../product/auth/tokens.ts';

/** Needs a migrated database. Without a URL it joins the embedded PostgreSQL, and throws if that does not run. */
export async function openContext(
  config: Config,
  databaseUrl: string | null = config.databaseUrl,
  givenLog?: Logger,
): Promise<{ ctx: Context; poolState: () => PoolState; close(): Promise<void> }> {
  await using opening = new AsyncDisposableStack();
  const log = givenLog ?? (await openLog(config));
  const { databaseReadUrl, databaseReadMaxLagMs: maxLagMs } = config;
  const replica = databaseReadUrl !== null && { url: databaseReadUrl, maxLagMs, onChange: logReplicaChanges(log) };
  const {
    db,
    poolState,
    close: closeDatabase,
  } = connect(databaseUrl ?? (await joinEmbedded(config, opening)), {
    max: config.databasePool,
    prepare: config.databasePrepare,
    ...(replica && { replica }),
  });
  opening.defer(closeDatabase);
  const providers = createProviderList(db, config);
  const ai = createAi(config.ai, log, providers);
  opening.defer(() => ai.close());
  const mail = createMail(config.mail, log);
  opening.defer(() => mail.close());
  const http = createHttpClient(config);
  opening.defer(() => http.close());
  const sources = createSourceReader(config);
  opening.defer(() => sources.close());
  const files = createFileStorage(config);
  opening.defer(() => files.close());
  const integrations = createIntegrations(config);
  opening.defer(() => integrations.close());
  const ctx: Context = {
    db,
    now: systemClock,
    log,
    config,
    tokens: NO_TOKENS,
    ai,
    providers,
    http,
    sources,
    mail,
    files,
    oauth: createOAuth(config),
    integrations,
    metrics: NO_METRICS,
    trace: NO_TRACE,
    worker: createRemoteWorker(db, log),
    apiKeyUse: createApiKeyUse(db),
    waitingFor: null,
  };
  const open = opening.move();
  return { ctx, poolState, close: () => open.disposeAsync() };
}

async function joinEmbedded({ dataDir }: Config, opening: AsyncDisposableStack): Promise<string> {
  const { startEmbeddedPostgres } = await import('@carillon/db/embedded/server');
  const { url, stop } = await startEmbeddedPostgres({ dataDir, mustRun: true });
  opening.defer(stop);
  return url;
}

/** Does nothing without a collector. The caller closes `ctx.trace`. */
export async function startTracing(ctx: Context): Promise<void> {
  if (ctx.config.tracing === null) return;
  // OpenTelemetry and the protocols of the providers take long to load.
  const [{ createTrace }, { tracedAi }] = await Promise.all([
    import('../lib/telemetry/opentelemetry.ts'),
    import('../lib/ai/tracing.ts'),
  ]);
  ctx.trace = createTrace(ctx.config.tracing, ctx.log);
  ctx.ai = tracedAi(ctx.ai, ctx.trace, ctx.providers);
}

/** The workers of other processes do what this process queues. */
function createRemoteWorker(...[db, log]: Parameters<typeof createRemoteWakeUps>): WorkerHandle {
  const wake = createRemoteWakeUps(db, log);
  return {
    wakeExecutions: wake.executions,
    wakeDeliveries: wake.deliveries,
    wakeLooks: wake.looks,
    abort: () => {},
    rescue: async () => [],
    stopping: new AbortController().signal,
    isAlive: () => false,
  };
}
