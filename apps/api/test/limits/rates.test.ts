import t from 'tap';
import {
  ACCOUNT_EXPORTS,
  ACCOUNT_LOGINS,
  ACTION_RATE_LIMITS,
  API_KEY_CREATIONS,
  CHANNEL_TESTS,
  CLIENT_DOCUMENTS,
  CLIENT_REGISTRATIONS,
  CONFIRMATIONS_OF_USER,
  CONFIRMATIONS_TO_ADDRESS,
  DELIVERIES,
  EMAIL_CHANGES,
  FACTOR_CODES,
  FEED_READS,
  findRateLimit,
  isExempt,
  MCP_REQUESTS,
  OTHER_ENDPOINTS,
  PASSWORD_ATTEMPTS,
  PUBLIC_ENDPOINTS,
  RATE_LIMITS,
  RESET_MAILS,
  RESET_MAILS_PER_DAY,
  SOURCE_PREVIEWS,
  TASK_FILES,
} from '../../src/platform/limits/rates.ts';
import { testContext } from '../support/context.ts';
import { listRoutes } from '../support/contract/conformance.ts';

const MINUTE = 60;
const HOUR = 3600;

t.test('The table equals the table of the specification', async (t) => {
  const table = RATE_LIMITS.map(({ bucket, limit, windowSeconds, scope }) => [bucket, limit, windowSeconds, scope]);
  t.same(table, [
    ['POST /api/auth/login', 5, 15 * MINUTE, 'ip+email'],
    ['POST /api/auth/register', 3, HOUR, 'ip'],
    ['POST /api/auth/forgot-password', 3, HOUR, 'ip+email'],
    ['POST /api/auth/reset-password', 5, HOUR, 'ip+token'],
    ['GET /api/auth/session', 60, MINUTE, 'user'],
    ['POST /api/agent/create-task', 10, MINUTE, 'user'],
    ['GET /api/tasks', 100, MINUTE, 'user'],
    ['GET /api/tasks/:id', 120, MINUTE, 'user'],
    ['PATCH /api/tasks/:id', 20, MINUTE, 'user'],
    ['DELETE /api/tasks/:id', 10, MINUTE, 'user'],
    ['POST /api/agent/confirm-task', 10, MINUTE, 'user'],
    ['POST /api/agent/process', 30, MINUTE, 'user'],
    ['POST /api/tasks/:id/execute', 20, MINUTE, 'user'],
    ['GET /api/executions', 100, MINUTE, 'user'],
    ['GET /api/executions/:id', 150, MINUTE, 'user'],
    ['POST /api/upload', 10, MINUTE, 'user'],
    ['DELETE /api/upload', 20, MINUTE, 'user'],
    ['POST /api/integrations/*/validate', 5, MINUTE, 'user'],
    ['POST /api/coupons/activate', 5, HOUR, 'user'],
    ['GET /api/admin/stats', 60, MINUTE, 'admin'],
    ['GET /api/admin/users', 100, MINUTE, 'admin'],
    ['POST /api/admin/coupons', 20, MINUTE, 'admin'],
    ['PATCH /api/admin/users/*', 30, MINUTE, 'admin'],
    ['POST /api/webhooks', 5, MINUTE, 'user'],
    ['POST /api/webhooks/*/test', 10, MINUTE, 'user'],
    ['* /api/webhooks/:userId/:secret', 100, MINUTE, 'ip'],
  ]);
  t.match(OTHER_ENDPOINTS, { limit: 100, windowSeconds: MINUTE, scope: 'user' });
  t.match(PUBLIC_ENDPOINTS, { limit: 600, windowSeconds: MINUTE, scope: 'ip' });
  t.match(MCP_REQUESTS, { limit: 600, windowSeconds: MINUTE, scope: 'user' });
  t.match(CLIENT_REGISTRATIONS, { limit: 10, windowSeconds: HOUR, scope: 'ip' });
  t.match(DELIVERIES, { limit: 100, windowSeconds: MINUTE });
  const actions = Object.entries(ACTION_RATE_LIMITS).map(([name, { limit, windowSeconds }]) => [
    name,
    limit,
    windowSeconds,
  ]);
  t.same(actions, [
    ['createTask', 10, MINUTE],
    ['executeTask', 30, MINUTE],
    ['updateTask', 20, MINUTE],
    ['getExecutions', 100, MINUTE],
  ]);
});

t.test('No two limits share a counter', async (t) => {
  const buckets = [
    ...RATE_LIMITS,
    OTHER_ENDPOINTS,
    PUBLIC_ENDPOINTS,
    ACCOUNT_EXPORTS,
    ACCOUNT_LOGINS,
    API_KEY_CREATIONS,
    CHANNEL_TESTS,
    CLIENT_DOCUMENTS,
    CLIENT_REGISTRATIONS,
    PASSWORD_ATTEMPTS,
    CONFIRMATIONS_OF_USER,
    CONFIRMATIONS_TO_ADDRESS,
    EMAIL_CHANGES,
    FACTOR_CODES,
    FEED_READS,
    MCP_REQUESTS,
    RESET_MAILS,
    RESET_MAILS_PER_DAY,
    SOURCE_PREVIEWS,
    TASK_FILES,
    ...Object.values(ACTION_RATE_LIMITS),
  ].map(({ bucket }) => bucket);
  t.equal(new Set(buckets).size, buckets.length);
});

/** Routes without a row. A new route is listed here too, so that its limit is a decision. */
const OTHERS = {
  none: ['GET /', 'GET /api/health', 'GET /api/health/ready', 'GET /api/health/live', 'GET /api/cron/scheduler'],
  [PUBLIC_ENDPOINTS.bucket]: [
    'OPTIONS *',
    'GET /api/auth/validate-reset-token',
    'POST /api/user/confirm-email',
    'GET /api/auth/oauth/:provider',
    'GET /api/auth/oauth/:provider/callback',
    'POST /api/auth/second-factor',
    'POST /api/auth/passkey/options',
    'POST /api/auth/passkey',
    'GET /feeds/:secret.atom',
    'GET /schemas/task.json',
    'GET,DELETE /mcp',
    'GET /mcp',
    'GET /.well-known/oauth-protected-resource',
    'GET /.well-known/oauth-protected-resource/mcp',
    'GET /.well-known/oauth-authorization-server',
    'POST /oauth/token',
    'POST /oauth/revoke',
  ],
  [MCP_REQUESTS.bucket]: ['POST /mcp'],
  [CLIENT_REGISTRATIONS.bucket]: ['POST /oauth/register'],
  [OTHER_ENDPOINTS.bucket]: [
    'POST /api/auth/logout',
    'POST /api/auth/confirm',
    'GET /api/auth/sessions',
    'DELETE /api/auth/sessions/:id',
    'GET /api/user',
    'PATCH /api/user',
    'DELETE /api/user',
    'POST /api/user/password',
    'GET /api/user/settings',
    'PATCH /api/user/settings',
    'GET /api/user/tasks',
    'POST /api/user/import',
    'GET /api/user/factors',
    'POST /api/user/factors/totp',
    'POST /api/user/factors/:id/confirm',
    'POST /api/user/factors/passkey/options',
    'POST /api/user/factors/passkey',
    'DELETE /api/user/factors/:id',
    'POST /api/user/recovery-codes',
    'GET /api/keys',
    'POST /api/keys',
    'PATCH /api/keys/:id',
    'DELETE /api/keys/:id',
    'GET /api/secrets',
    'POST /api/secrets',
    'DELETE /api/secrets/:id',
    'GET /api/user/apps',
    'DELETE /api/user/apps/:id',
    'POST /api/tasks/preview',
    'POST /api/tasks/preview-prompt',
    'POST /api/tasks/preview-sources',
    'GET /api/tasks/:id/occurrences',
    'GET /api/tasks/:id/versions',
    'GET /api/tasks/:id/versions/:number',
    'POST /api/tasks/:id/versions/:number/restore',
    'GET /api/tasks/:id/template',
    'GET /api/templates',
    'POST /api/tasks/:id/duplicate',
    'POST /api/tasks/:id/skip-next',
    'POST /api/tasks/:id/backfill',
    'POST /api/tasks/:id/feed',
    'DELETE /api/tasks/:id/feed',
    'POST /api/user/feed',
    'DELETE /api/user/feed',
    'GET /api/alerts',
    'GET /api/events',
    'GET /api/executions/:id/details',
    'GET /api/executions/:id/diff',
    'GET /api/executions/:id/questions',
    'POST /api/executions/:id/ask',
    'POST /api/executions/:id/retry',
    'POST /api/executions/:id/cancel',
    'GET /api/webhooks',
    'GET /api/webhooks/:id',
    'PATCH /api/webhooks/:id',
    'DELETE /api/webhooks/:id',
    'POST /api/webhooks/:id/rotate-secret',
    'GET /api/webhooks/:id/logs',
    'GET /api/webhooks/:id/logs/:logId',
    'POST /api/webhooks/:id/logs/:deliveryId/redeliver',
    'POST /api/webhooks/:id/redeliver',
    'GET /api/channels',
    'POST /api/channels',
    'GET /api/channels/:id',
    'PATCH /api/channels/:id',
    'DELETE /api/channels/:id',
    'POST /api/channels/:id/test',
    'GET /api/channels/:id/logs',
    'POST /api/channels/:id/logs/:deliveryId/redeliver',
    'GET /api/usage',
    'GET /api/usage/alerts',
    'POST /api/usage/alerts',
    'DELETE /api/usage/alerts/:id',
    'GET /api/notifications',
    'POST /api/notifications/:id/read',
    'GET /api/admin/coupons',
    'GET /api/admin/coupons/:id',
    'PATCH /api/admin/coupons/:id',
    'DELETE /api/admin/coupons/:id',
    'GET /api/admin/coupons/:id/usage',
    'GET /api/admin/users/:id',
    'DELETE /api/admin/users/:id',
    'POST /api/executions/:id/seen',
    'POST /api/executions/seen',
    'POST /api/alerts/:id/acknowledge',
    'GET /api/admin/audit',
    'GET /api/admin/providers',
    'POST /api/admin/providers',
    'POST /api/admin/providers/test',
    'PATCH /api/admin/providers/:id',
    'DELETE /api/admin/providers/:id',
    'GET /api/admin/security',
    'PATCH /api/admin/security',
    'GET /api/admin/settings',
    'PATCH /api/admin/settings',
  ],
};

/** The OpenAPI document and its page. */
const isDocs = (url: string) => url === '/openapi.json' || url.startsWith('/api/docs');

t.test('Every route has its limit, and every row a route', async (t) => {
  const { app } = await testContext(t);
  const found = listRoutes(app).filter(({ url, config }) => !isDocs(url) && config?.access !== 'page');
  const routes = found.map(({ method, url, config }) => ({
    name: `${method === 'HEAD' ? 'GET' : method} ${url}`,
    rate: config?.rate,
  }));
  const served = new Set(routes.map(({ rate }) => rate?.bucket));
  for (const { name, rate } of routes) {
    const bucket = rate === null ? 'none' : rate?.bucket;
    const others = Object.entries(OTHERS).find(([, names]) => names.includes(name));
    if (others) t.equal(bucket, others[0], name);
    else
      t.ok(
        RATE_LIMITS.some((row) => row === rate),
        `${name} has a row of its own, or is written down above: ${bucket}`,
      );
  }
  for (const { bucket } of RATE_LIMITS) t.ok(served.has(bucket), `${bucket} has a route`);
  // The actions of the dashboard count its pages.
  for (const { url, config } of listRoutes(app)) {
    if (isDocs(url) || config?.access === 'page') t.equal(config?.rate ?? null, null, url);
  }
});

t.test('A row matches the routes that it names and no others', async (t) => {
  const bucketOf = (method: string, url: string, access = 'user') => findRateLimit(method, url, access)?.bucket;
  const others: [method: string, url: string][] = [
    ['PUT', '/api/tasks'],
    ['GET', '/api/tasks/preview'],
    ['GET', '/api/tasks/:id/occurrences'],
    ['POST', '/api/integrations/validate'],
    ['POST', '/api/integrations/notes/validate/again'],
    ['GET', '/api/admin/users/:id'],
    ['DELETE', '/api/admin/users/:id'],
    ['GET', '/api/webhooks'],
    ['GET', '/api/webhooks/:webhookId/logs'],
    ['POST', '/api/webhooks/:webhookId/rotate-secret'],
    ['GET', '/api/webhooks/:webhookId'],
  ];
  for (const [method, url] of others) t.equal(bucketOf(method, url), OTHER_ENDPOINTS.bucket, `${method} ${url}`);
});

t.test('Only the paths of the specification and the probes are exempt', async (t) => {
  const paths = [
    '/',
    '/api/health',
    '/api/health/live',
    '/api/health/ready',
    '/api/docs',
    '/api/docs/',
    '/api/docs/static/x.js',
    '/images/a.png',
    '/styles/a.css',
  ];
  for (const path of paths) {
    t.ok(isExempt('GET', path), path);
    t.notOk(isExempt('POST', path), `POST ${path}`);
  }
  for (const path of ['/api', '/api/healthy', '/api/health/x', '/api/docsx', '/images', '/stylesheet', '/x/images/a']) {
    t.notOk(isExempt('GET', path), path);
  }
});
