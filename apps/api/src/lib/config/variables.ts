import {
  anthropicUrl,
  baseUrl,
  boolean,
  bucketName,
  databaseUrl,
  delays,
  destinations,
  httpUrl,
  integer,
  mailbox,
  offlineOrHttpUrl,
  oneOf,
  origins,
  type Parser,
  positiveNumber,
  retentionDays,
  siteUrl,
  text,
  trustedProxies,
  url,
} from './parsers.ts';

/** Every variable of the API with its parser and default. `.env.example` says what each is for. */
export const VARIABLES = {
  NODE_ENV: { parser: oneOf('development', 'production', 'test'), default: 'development' },
  HOST: { parser: text, default: '127.0.0.1' },
  PORT: { parser: integer(0, 65_535), default: '3000' },
  BASE_URL: { parser: siteUrl, default: null },
  APP_URL: { parser: baseUrl, default: null },
  CORS_ORIGINS: { parser: origins, default: null },
  TRUST_PROXY: { parser: trustedProxies, default: null },
  SHUTDOWN_DELAY_MS: { parser: integer(0, 10_000), default: '0' },
  LOG_LEVEL: { parser: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'), default: 'info' },

  DATABASE_URL: { parser: databaseUrl, default: null },
  DATABASE_DIRECT_URL: { parser: databaseUrl, default: null },
  DATABASE_PREPARE: { parser: oneOf('auto', 'true', 'false'), default: 'auto' },
  DATABASE_READ_URL: { parser: databaseUrl, default: null },
  DATABASE_READ_MAX_LAG_MS: { parser: integer(100, 3_600_000), default: '10000' },
  DATABASE_POOL: { parser: integer(2, 1000), default: '20' },
  DATA_DIR: { parser: text, default: '.data' },

  JWT_SECRET: { parser: text, default: null },
  ENCRYPTION_KEY: { parser: text, default: null },
  CRON_SECRET: { parser: text, default: null },
  ADMIN_KEY: { parser: text, default: null },
  BOOTSTRAP_ADMIN_EMAIL: { parser: text, default: null },
  BOOTSTRAP_ADMIN_PASSWORD: { parser: text, default: null },

  AI_BASE_URL: { parser: offlineOrHttpUrl, default: null },
  AI_API_KEY: { parser: text, default: null },
  ANTHROPIC_API_KEY: { parser: text, default: null },
  ANTHROPIC_BASE_URL: { parser: anthropicUrl, default: null },
  AI_WEB_TOOLS: { parser: oneOf('auto', 'openrouter', 'none'), default: 'auto' },
  AI_TIMEOUT_MS: { parser: integer(1, 3_600_000), default: '120000' },

  SMTP_URL: { parser: url('smtp:', 'smtps:'), default: null },
  MAIL_FROM: { parser: mailbox, default: null },

  STORAGE_DRIVER: { parser: oneOf('base64', 'disk', 's3'), default: null },
  STORAGE_URL: { parser: baseUrl, default: null },
  S3_ENDPOINT: { parser: baseUrl, default: null },
  S3_REGION: { parser: text, default: 'us-east-1' },
  S3_BUCKET: { parser: bucketName, default: null },
  S3_ACCESS_KEY_ID: { parser: text, default: null },
  S3_SECRET_ACCESS_KEY: { parser: text, default: null },

  NOTES_API_URL: { parser: httpUrl, default: 'https://api.notion.com' },
  DESIGN_API_URL: { parser: httpUrl, default: 'https://api.figma.com' },

  TELEGRAM_API_URL: { parser: baseUrl, default: 'https://api.telegram.org' },

  EXECUTION_RETRY_DELAYS_MS: { parser: delays, default: '60000,300000,900000' },
  EXECUTION_CONCURRENCY: { parser: integer(1, 1000), default: '100' },
  EXECUTION_LEASE_MS: { parser: integer(200, 600_000), default: '30000' },
  WEBHOOK_RETRY_DELAYS_MS: { parser: delays, default: '0,60000,300000,900000,3600000' },
  WEBHOOK_CONCURRENCY: { parser: integer(1, 500), default: '50' },

  RETENTION_EXECUTIONS_DAYS: { parser: retentionDays(1), default: '365' },
  RETENTION_OCCURRENCES_DAYS: { parser: retentionDays(1), default: '365' },
  RETENTION_DELIVERIES_DAYS: { parser: retentionDays(1), default: '30' },
  RETENTION_EVENTS_DAYS: { parser: retentionDays(1), default: '30' },
  RETENTION_ALERTS_DAYS: { parser: retentionDays(1), default: '90' },
  RETENTION_NOTIFICATIONS_DAYS: { parser: retentionDays(1), default: '90' },
  RETENTION_AUDIT_DAYS: { parser: retentionDays(30), default: '365' },
  RETENTION_USAGE_DAYS: { parser: retentionDays(62), default: '730' },
  RETENTION_FILES_DAYS: { parser: retentionDays(1), default: '0' },
  RETENTION_IDEMPOTENCY_HOURS: { parser: integer(1, 720), default: '24' },

  EGRESS_ALLOW: { parser: destinations, default: null },
  SOURCES_ALLOW: { parser: destinations, default: null },
  SEARCH_URL: { parser: baseUrl, default: null },

  OAUTH_REGISTRATION: { parser: oneOf('on', 'off'), default: 'on' },
  OAUTH_GOOGLE_CLIENT_ID: { parser: text, default: null },
  OAUTH_GOOGLE_CLIENT_SECRET: { parser: text, default: null },
  OAUTH_GITHUB_CLIENT_ID: { parser: text, default: null },
  OAUTH_GITHUB_CLIENT_SECRET: { parser: text, default: null },
  OAUTH_GITHUB_URL: { parser: httpUrl, default: 'https://github.com' },
  OAUTH_GITHUB_API_URL: { parser: httpUrl, default: 'https://api.github.com' },
  OAUTH_OIDC_ISSUER: { parser: httpUrl, default: null },
  OAUTH_OIDC_CLIENT_ID: { parser: text, default: null },
  OAUTH_OIDC_CLIENT_SECRET: { parser: text, default: null },

  DASHBOARD: { parser: boolean, default: 'true' },
  METRICS_PORT: { parser: integer(0, 65_535), default: null },
  METRICS_HOST: { parser: text, default: '127.0.0.1' },
  // OpenTelemetry's exporter itself reads its variables for timeout, compression and certificates.
  OTEL_EXPORTER_OTLP_ENDPOINT: { parser: baseUrl, default: null },
  OTEL_EXPORTER_OTLP_HEADERS: { parser: text, default: null },
  OTEL_SERVICE_NAME: { parser: text, default: 'carillon' },

  RATE_LIMIT_MULTIPLIER: { parser: positiveNumber, default: '1' },
  COOKIE_SECURE: { parser: boolean, default: 'true' },
} as const satisfies Record<string, { parser: Parser<unknown>; default: string | null }>;

/** Required in production, generated in development. */
export const SECRETS = ['JWT_SECRET', 'ENCRYPTION_KEY', 'CRON_SECRET', 'ADMIN_KEY'] as const;
