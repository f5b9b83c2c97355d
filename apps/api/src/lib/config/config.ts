import { join, resolve } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { readDatabaseUrls } from './database-url.ts';
import { ConfigError, type Environment, readVariable, type VariableName } from './environment.ts';
import { readOAuth } from './oauth.ts';
import { destinations, trustedProxies } from './parsers.ts';
import { assertHttps, assertStrongSecrets } from './production.ts';
import { parseEncryptionKeys, readGeneratedSecrets, type Secrets } from './secrets.ts';
import { readStorage } from './storage.ts';
import { readTracing } from './tracing.ts';
import { listUnknownVariables } from './unknown-variables.ts';
import { SECRETS } from './variables.ts';

export { ConfigError } from './environment.ts';

/** The version of the running service. */
export const VERSION: string = packageJson.version;

/** Of development: the proxy of a developer, and where the receivers of a developer listen. */
const LOCAL_PROXIES = trustedProxies.parse('127.0.0.1,::1') ?? false;
const LOCAL_NETWORKS = destinations.parse('127.0.0.0/8,::1/128,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7') ?? [];

/** The log level on a terminal: lines of requests would push the address of the service away. */
export const TERMINAL_LEVEL = 'warn';

/**
 * Throws a `ConfigError` whose message is one line with the variable, its value and what it takes. In development,
 * missing secrets are generated into `DATA_DIR`. `fileNames` are the names in `.env`, for the ones that are misspelt.
 */
export function loadConfig(env: Environment, fileNames: readonly string[] = []) {
  const read = <N extends VariableName>(name: N) => readVariable(env, name);
  const production = read('NODE_ENV') === 'production';
  const port = read('PORT');
  const baseUrl = read('BASE_URL') ?? `http://localhost:${port}`;
  const dataDir = resolve(read('DATA_DIR'));

  const given = Object.fromEntries(SECRETS.map((name) => [name, read(name)]));
  const missing = SECRETS.filter((name) => given[name] === null);
  if (production && missing.length > 0) {
    throw new ConfigError(`Production needs ${missing.join(', ')}: set each to a secret of at least 32 bytes.`);
  }
  const secrets = (missing.length > 0 ? { ...readGeneratedSecrets(dataDir), ...dropNulls(given) } : given) as Secrets;
  const encryptionKeys = parseEncryptionKeys(secrets.ENCRYPTION_KEY);
  const appUrl = read('APP_URL') ?? baseUrl;
  const corsOrigins = read('CORS_ORIGINS') ?? [new URL(appUrl).origin];
  const cookieSecure = read('COOKIE_SECURE');
  const metricsPort = read('METRICS_PORT');
  const smtpUrl = read('SMTP_URL');
  if (metricsPort === port && port !== 0) {
    throw new ConfigError(`METRICS_PORT and PORT are both ${port}: set METRICS_PORT to another port.`);
  }
  if (production) {
    assertStrongSecrets(secrets, encryptionKeys);
    assertHttps({ BASE_URL: [baseUrl], APP_URL: [appUrl], CORS_ORIGINS: corsOrigins });
    if (!cookieSecure) throw new ConfigError('COOKIE_SECURE can only be false in development.');
    if (read('AI_BASE_URL') === null && read('ANTHROPIC_API_KEY') === null) {
      throw new ConfigError(
        'Production needs AI_BASE_URL: the URL of a provider, or "offline" for the built-in model.',
      );
    }
    if (smtpUrl === null) {
      throw new ConfigError('Production needs SMTP_URL: the URL of a mail server, such as smtps://user:password@host.');
    }
  }
  const email = read('BOOTSTRAP_ADMIN_EMAIL');
  const password = read('BOOTSTRAP_ADMIN_PASSWORD');

  return Object.freeze({
    production,
    host: read('HOST'),
    port,
    baseUrl,
    appUrl,
    corsOrigins,
    trustProxy: read('TRUST_PROXY') ?? (production ? false : LOCAL_PROXIES),
    shutdownDelayMs: read('SHUTDOWN_DELAY_MS'),
    ...readDatabaseUrls(env),
    databaseReadMaxLagMs: read('DATABASE_READ_MAX_LAG_MS'),
    databasePrepare: read('DATABASE_PREPARE'),
    databasePool: read('DATABASE_POOL'),
    dataDir,
    jwtSecret: secrets.JWT_SECRET,
    encryptionKeys,
    cronSecret: secrets.CRON_SECRET,
    adminKey: secrets.ADMIN_KEY,
    bootstrapAdmin: email && password ? { email, password } : null,
    ai: {
      baseUrl: read('AI_BASE_URL'),
      apiKey: read('AI_API_KEY'),
      anthropicApiKey: read('ANTHROPIC_API_KEY'),
      anthropicBaseUrl: read('ANTHROPIC_BASE_URL'),
      webTools: read('AI_WEB_TOOLS'),
      timeoutMs: read('AI_TIMEOUT_MS'),
    },
    mail: {
      smtpUrl,
      from: read('MAIL_FROM') ?? `Carillon <no-reply@${new URL(appUrl).hostname}>`,
      folder: join(dataDir, 'mail'),
    },
    storage: readStorage(env, { production, baseUrl, dataDir }),
    oauth: readOAuth(env),
    oauthRegistration: read('OAUTH_REGISTRATION') === 'on',
    integrations: { notesUrl: read('NOTES_API_URL'), designUrl: read('DESIGN_API_URL') },
    telegramUrl: read('TELEGRAM_API_URL'),
    sourcesAllow: read('SOURCES_ALLOW') ?? [],
    searchUrl: read('SEARCH_URL'),
    egressAllow: read('EGRESS_ALLOW') ?? (production ? [] : LOCAL_NETWORKS),
    executionRetryDelaysMs: read('EXECUTION_RETRY_DELAYS_MS'),
    executionConcurrency: read('EXECUTION_CONCURRENCY'),
    executionLeaseMs: read('EXECUTION_LEASE_MS'),
    webhookRetryDelaysMs: read('WEBHOOK_RETRY_DELAYS_MS'),
    webhookConcurrency: read('WEBHOOK_CONCURRENCY'),
    retention: {
      executionsDays: read('RETENTION_EXECUTIONS_DAYS'),
      occurrencesDays: read('RETENTION_OCCURRENCES_DAYS'),
      deliveriesDays: read('RETENTION_DELIVERIES_DAYS'),
      eventsDays: read('RETENTION_EVENTS_DAYS'),
      alertsDays: read('RETENTION_ALERTS_DAYS'),
      notificationsDays: read('RETENTION_NOTIFICATIONS_DAYS'),
      auditDays: read('RETENTION_AUDIT_DAYS'),
      usageDays: read('RETENTION_USAGE_DAYS'),
      filesDays: read('RETENTION_FILES_DAYS'),
      idempotencyHours: read('RETENTION_IDEMPOTENCY_HOURS'),
    },
    rateLimitMultiplier: read('RATE_LIMIT_MULTIPLIER'),
    cookieSecure,
    dashboard: read('DASHBOARD'),
    metrics: metricsPort === null ? null : { host: read('METRICS_HOST'), port: metricsPort },
    tracing: readTracing(env),
    logLevel: read('LOG_LEVEL'),
    unknownVariables: listUnknownVariables(env, fileNames),
  });
}

export type Config = ReturnType<typeof loadConfig>;

const dropNulls = (record: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
