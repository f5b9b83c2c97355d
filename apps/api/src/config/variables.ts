import { address, delays, flag, httpUrl, integer, type Kind, oneOf, positive, proxies, text } from './kinds.ts';

/** Every variable of decisions §1: its default (null where there is none), what it takes, what it is for. */
export const VARIABLES = {
  NODE_ENV: {
    kind: oneOf('development', 'production', 'test'),
    default: 'development',
    meaning: 'production demands secrets and a real provider',
  },
  HOST: { kind: text, default: '127.0.0.1', meaning: 'address to listen at' },
  PORT: { kind: integer(0, 65_535), default: '3000', meaning: 'port to listen at' },
  BASE_URL: { kind: httpUrl, default: null, meaning: 'where clients reach the API; http://localhost:PORT unless set' },
  APP_URL: { kind: httpUrl, default: null, meaning: 'where the web application is; BASE_URL unless set' },
  TRUST_PROXY: { kind: proxies, default: 'false', meaning: 'reverse proxies whose X-Forwarded-For is believed' },
  DATABASE_URL: {
    kind: address(['postgres:', 'postgresql:']),
    default: null,
    meaning: 'PostgreSQL to use; unset: an embedded one in DATA_DIR',
  },
  DATABASE_POOL: { kind: integer(2, 1000), default: '20', meaning: 'database connections at most, per process' },
  DATA_DIR: { kind: text, default: '.data', meaning: 'embedded database, generated secrets, mail and files on disk' },
  JWT_SECRET: { kind: text, default: null, meaning: 'signs the sessions' },
  ENCRYPTION_KEY: {
    kind: text,
    default: null,
    meaning: 'seals secrets in the database: base64 of 32 bytes, or id:base64,id:base64 (the first writes)',
  },
  CRON_SECRET: { kind: text, default: null, meaning: 'bearer secret of the scheduler trigger' },
  ADMIN_KEY: { kind: text, default: null, meaning: 'X-Admin-Key of the admin endpoints' },
  BOOTSTRAP_ADMIN_EMAIL: { kind: text, default: null, meaning: 'account that is made ADMIN at start' },
  BOOTSTRAP_ADMIN_PASSWORD: { kind: text, default: null, meaning: 'its password when it has to be created' },
  AI_BASE_URL: {
    kind: {
      takes: 'offline, or an http(s) address that ends before /chat/completions',
      parse: (value: string) => (value === 'offline' ? value : httpUrl.parse(value)),
    },
    default: null,
    meaning: 'OpenAI-compatible chat-completions service',
  },
  AI_API_KEY: { kind: text, default: null, meaning: 'its key' },
  ANTHROPIC_API_KEY: {
    kind: text,
    default: null,
    meaning: 'key of the Anthropic Messages API, which serves models named anthropic/…',
  },
  ANTHROPIC_BASE_URL: { kind: httpUrl, default: null, meaning: 'address of the Anthropic Messages API' },
  AI_TIMEOUT_MS: { kind: integer(1, 3_600_000), default: '120000', meaning: 'longest AI call' },
  EXECUTION_RETRY_DELAYS_MS: {
    kind: delays,
    default: '60000,300000,900000',
    meaning: 'waits before the retries of a failed execution',
  },
  EXECUTION_CONCURRENCY: { kind: integer(1, 1000), default: '100', meaning: 'executions at once in this process' },
  EXECUTION_LEASE_MS: {
    kind: integer(200, 600_000),
    default: '30000',
    meaning: 'a running execution whose lease was not renewed for this long is taken over',
  },
  OAUTH_GOOGLE_CLIENT_ID: { kind: text, default: null, meaning: 'sign-in with Google, with its secret' },
  OAUTH_GOOGLE_CLIENT_SECRET: { kind: text, default: null, meaning: 'secret of that client' },
  OAUTH_GITHUB_CLIENT_ID: { kind: text, default: null, meaning: 'sign-in with GitHub, with its secret' },
  OAUTH_GITHUB_CLIENT_SECRET: { kind: text, default: null, meaning: 'secret of that client' },
  OAUTH_GITHUB_URL: { kind: httpUrl, default: 'https://github.com', meaning: 'another address for GitHub Enterprise' },
  OAUTH_GITHUB_API_URL: {
    kind: httpUrl,
    default: 'https://api.github.com',
    meaning: 'the API of the same GitHub',
  },
  OAUTH_OIDC_ISSUER: { kind: httpUrl, default: null, meaning: 'sign-in with any OpenID Connect issuer' },
  OAUTH_OIDC_CLIENT_ID: { kind: text, default: null, meaning: 'our client at that issuer' },
  OAUTH_OIDC_CLIENT_SECRET: { kind: text, default: null, meaning: 'secret of that client' },
  RATE_LIMIT_MULTIPLIER: { kind: positive, default: '1', meaning: 'scales every rate limit (load tests only)' },
  COOKIE_SECURE: {
    kind: flag,
    default: 'true',
    meaning: 'false leaves Secure out of the session cookie (development only)',
  },
  LOG_LEVEL: {
    kind: oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    default: 'info',
    meaning: 'pino level',
  },
} as const satisfies Record<string, { kind: Kind<unknown>; default: string | null; meaning: string }>;
