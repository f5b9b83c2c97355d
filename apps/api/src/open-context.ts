import type { PoolState } from '@carillon/db';
import { connect } from '@carillon/db';
import type { Logger } from 'pino';
import { createAi } from './ai/client.ts';
import { createApiKeyUse } from './auth/keys/use.ts';
import { NO_TOKENS } from './auth/tokens.ts';
import { type Config, ConfigError } from './config/config.ts';
import { type Context, systemClock, type WorkerHandle } from './context.ts';
import { createHttpClient } from './egress/client.ts';
import { createMail } from './mail/transport.ts';
import { createRemoteWakeUps } from './queue/wake-ups.ts';
import { createFileStorage } from './storage/client.ts';
import { openLog } from './telemetry/logger.ts';
import { NO_METRICS } from './telemetry/metrics.ts';
import { logReplicaChanges } from './telemetry/replica-log.ts';
import { NO_TRACE } from './telemetry/tracing.ts';
import { createIntegrations } from './third-party/integrations.ts';
import { createOAuth } from './third-party/oauth.ts';

/** Needs a migrated database. Throws a `ConfigError` without a database URL. */
export async function openContext(
  config: Config,
  databaseUrl: string | null = config.databaseUrl,
  givenLog?: Logger,
): Promise<{ ctx: Context; poolState: () => PoolState; close(): Promise<void> }> {
  if (databaseUrl === null)
    throw new ConfigError('DATABASE_URL is required, because this process shares the database with the API processes.');
  const open = new AsyncDisposableStack();
  const log = givenLog ?? (await openLog(config));
  const { databaseReadUrl, databaseReadMaxLagMs: maxLagMs } = config;
  const replica = databaseReadUrl !== null && { url: databaseReadUrl, maxLagMs, onChange: logReplicaChanges(log) };
  const {
    db,
    poolState,
    close: closeDatabase,
  } = connect(databaseUrl, {
    max: config.databasePool,
    prepare: config.databasePrepare,
    ...(replica && { replica }),
  });
  open.defer(closeDatabase);
  const ai = createAi(config.ai, log);
  open.defer(() => ai.close());
  const mail = createMail(config.mail, log);
  open.defer(() => mail.close());
  const http = createHttpClient(config);
  open.defer(() => http.close());
  const files = createFileStorage(config);
  open.defer(() => files.close());
  const integrations = createIntegrations(config);
  open.defer(() => integrations.close());
  const ctx: Context = {
    db,
    now: systemClock,
    log,
    config,
    tokens: NO_TOKENS,
    ai,
    http,
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
  return { ctx, poolState, close: () => open.disposeAsync() };
}

/** Does nothing without a collector. The caller closes `ctx.trace`. */
export async function startTracing(ctx: Context): Promise<void> {
  if (ctx.config.tracing === null) return;
  // OpenTelemetry and the protocols of the providers take long to load.
  const [{ createTrace }, { tracedAi }] = await Promise.all([
    import('./telemetry/opentelemetry.ts'),
    import('./ai/tracing.ts'),
  ]);
  ctx.trace = createTrace(ctx.config.tracing, ctx.log);
  ctx.ai = tracedAi(ctx.ai, ctx.trace, ctx.config.ai);
}

/** The workers of other processes do what this process queues. */
function createRemoteWorker(...[db, log]: Parameters<typeof createRemoteWakeUps>): WorkerHandle {
  const wake = createRemoteWakeUps(db, log);
  return {
    wakeExecutions: wake.executions,
    wakeDeliveries: wake.deliveries,
    abort: () => {},
    rescue: async () => [],
    stopping: new AbortController().signal,
    isAlive: () => false,
  };
}
