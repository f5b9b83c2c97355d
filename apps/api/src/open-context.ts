import { connect } from '@carillon/db';
import type { PoolState } from '@carillon/db/pool';
import { pino } from 'pino';
import { createAi } from './ai/client.ts';
import { createSessionTokens } from './auth/tokens.ts';
import { type Config, ConfigError } from './config/config.ts';
import { type Context, systemClock, type WorkerHandle } from './context.ts';
import { createHttp } from './egress/client.ts';
import { createMail } from './mail/transport.ts';
import { createFiles } from './storage/files.ts';
import { logDestination, loggerOptions } from './telemetry/logger.ts';
import { NO_METRICS } from './telemetry/metrics.ts';
import { NO_TRACE } from './telemetry/tracing.ts';
import { createIntegrations } from './third-party/integrations.ts';
import { createOAuth } from './third-party/oauth.ts';

/**
 * Opens what every verb is handed: database, log, and the ways to the outside. It serves nothing and runs nothing: what
 * its verbs queue is taken up by the workers of the API processes, which look once a second. The schema has to be there;
 * an API process brings it. Throws a `ConfigError` where there is no `DATABASE_URL`, neither in `config` nor given.
 */
export async function openContext(
  config: Config,
  databaseUrl: string | null = config.databaseUrl,
): Promise<{ ctx: Context; poolState: () => PoolState; close(): Promise<void> }> {
  if (databaseUrl === null) throw new ConfigError('DATABASE_URL is needed: a process of its own shares the database.');
  const tokens = await createSessionTokens(config);
  const open = new AsyncDisposableStack();
  const log = pino(loggerOptions(config), logDestination());
  const { db, poolState, close: closeDatabase } = connect(databaseUrl, { max: config.databasePool });
  open.defer(closeDatabase);
  const ai = createAi(config.ai);
  open.defer(() => ai.close());
  const mail = createMail(config.mail, log);
  open.defer(() => mail.close());
  const http = createHttp(config);
  open.defer(() => http.close());
  const files = createFiles(config);
  open.defer(() => files.close());
  const oauth = createOAuth(config);
  const integrations = createIntegrations(config);
  open.defer(() => integrations.close());
  const own = { metrics: NO_METRICS, trace: NO_TRACE, worker: WORKERS_ELSEWHERE };
  const ctx = { db, now: systemClock, log, config, tokens, ai, http, mail, files, oauth, integrations, ...own };
  return { ctx, poolState, close: () => open.disposeAsync() };
}

/** They find what is queued, and notice by their leases that what they run is gone. */
const WORKERS_ELSEWHERE: WorkerHandle = {
  wakeExecutions: () => {},
  wakeDeliveries: () => {},
  abort: () => {},
  rescue: async () => [],
  stopping: new AbortController().signal,
  isAlive: () => false,
};
