import { resolve } from 'node:path';
import { readMail } from './mail.ts';
import { readOAuth } from './oauth.ts';
import { destinations } from './parsers.ts';
import { assertPublic, assertStrong } from './production.ts';
import { type Environment, readVariable } from './read.ts';
import { readRetention } from './retention.ts';
import { ConfigError, developmentSecrets, parseEncryptionKeys, SECRETS } from './secrets.ts';
import { readStorage } from './storage.ts';
import { readTracing } from './tracing.ts';
import type { VARIABLES } from './variables.ts';

export { ConfigError } from './secrets.ts';

/** What a developer's own receivers listen at. */
const LOOPBACK = destinations.parse('127.0.0.0/8,::1/128') ?? [];

/**
 * Environment → frozen `Config` (decisions §1). Throws a `ConfigError` whose message is one line naming the variable,
 * what it got and what it takes. In development the missing secrets are generated into `DATA_DIR`.
 */
export function loadConfig(env: Environment) {
  const read = <N extends keyof typeof VARIABLES>(name: N) => readVariable(env, name);
  const production = read('NODE_ENV') === 'production';
  const port = read('PORT');
  const baseUrl = read('BASE_URL') ?? `http://localhost:${port}`;
  const dataDir = resolve(read('DATA_DIR'));

  const given = Object.fromEntries(SECRETS.map((name) => [name, read(name)]));
  const missing = SECRETS.filter((name) => given[name] === null);
  if (production && missing.length > 0) {
    throw new ConfigError(`Production needs ${missing.join(', ')}: set each to a secret of at least 32 bytes.`);
  }
  const secrets = missing.length > 0 ? { ...developmentSecrets(dataDir), ...dropNulls(given) } : given;
  const encryptionKeys = parseEncryptionKeys(secrets.ENCRYPTION_KEY as string);
  const appUrl = read('APP_URL') ?? baseUrl;
  const cookieSecure = read('COOKIE_SECURE');
  const metricsPort = read('METRICS_PORT');
  if (metricsPort === port && port !== 0) {
    throw new ConfigError(`METRICS_PORT and PORT are both ${port}: the metrics need a port of their own.`);
  }
  if (production) {
    assertStrong(secrets as Record<(typeof SECRETS)[number], string>, encryptionKeys);
    assertPublic({ BASE_URL: baseUrl, APP_URL: appUrl, COOKIE_SECURE: cookieSecure });
    if (read('AI_BASE_URL') === null && read('ANTHROPIC_API_KEY') === null) {
      throw new ConfigError(
        'Production needs AI_BASE_URL: the address of a provider, or "offline" for the built-in model.',
      );
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
    trustProxy: read('TRUST_PROXY'),
    shutdownDelayMs: read('SHUTDOWN_DELAY_MS'),
    databaseUrl: read('DATABASE_URL'),
    databasePool: read('DATABASE_POOL'),
    dataDir,
    jwtSecret: secrets.JWT_SECRET as string,
    encryptionKeys,
    cronSecret: secrets.CRON_SECRET as string,
    adminKey: secrets.ADMIN_KEY as string,
    bootstrapAdmin: email && password ? { email, password } : null,
    ai: {
      baseUrl: read('AI_BASE_URL'),
      apiKey: read('AI_API_KEY'),
      anthropicApiKey: read('ANTHROPIC_API_KEY'),
      anthropicBaseUrl: read('ANTHROPIC_BASE_URL'),
      timeoutMs: read('AI_TIMEOUT_MS'),
    },
    mail: readMail(env, { production, appUrl, dataDir }),
    storage: readStorage(env, { production, baseUrl, dataDir }),
    oauth: readOAuth(env),
    integrations: { notesUrl: read('NOTES_API_URL'), designUrl: read('DESIGN_API_URL') },
    egressAllow: read('EGRESS_ALLOW') ?? (production ? [] : LOOPBACK),
    executionRetryDelaysMs: read('EXECUTION_RETRY_DELAYS_MS'),
    executionConcurrency: read('EXECUTION_CONCURRENCY'),
    executionLeaseMs: read('EXECUTION_LEASE_MS'),
    webhookRetryDelaysMs: read('WEBHOOK_RETRY_DELAYS_MS'),
    webhookConcurrency: read('WEBHOOK_CONCURRENCY'),
    retention: readRetention(env),
    rateLimitMultiplier: read('RATE_LIMIT_MULTIPLIER'),
    cookieSecure,
    metrics: metricsPort === null ? null : { host: read('METRICS_HOST'), port: metricsPort },
    tracing: readTracing(env),
    logLevel: read('LOG_LEVEL'),
  });
}

export type Config = ReturnType<typeof loadConfig>;

const dropNulls = (record: Record<string, string | null>) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null));
