import { API_KEY_SCOPES } from '@carillon/contract/accounts/api-keys';
import t from 'tap';
import { buildApp } from '../../../src/entry/app.ts';
import { testContext } from '../../support/context.ts';
import { listRoutes } from '../../support/contract/conformance.ts';
import { readServedDocument } from '../../support/contract/served-document.ts';
import { createKey } from '../../support/keys.ts';
import { signUpAda } from '../../support/people.ts';

const { app, ctx } = await testContext(t);

/** Every route that needs a caller. A new one is listed here, so that its scope is a decision. */
const SCOPES: Record<string, string[]> = {
  'none: sessions only': [
    'POST /api/auth/logout',
    'POST /api/auth/confirm',
    'GET /api/auth/session',
    'GET /api/auth/sessions',
    'DELETE /api/auth/sessions/:id',
    'DELETE /api/user',
    'POST /api/user/password',
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
    'POST /api/coupons/activate',
    'POST /api/integrations/notes/validate',
    'POST /api/integrations/design/validate',
  ],
  'tasks:read': [
    'GET /api/tasks',
    'GET /api/tasks/:id',
    'GET /api/tasks/:id/occurrences',
    'GET /api/tasks/:id/versions',
    'GET /api/tasks/:id/versions/:number',
    'GET /api/tasks/:id/template',
    'GET /api/templates',
    'POST /api/tasks/preview',
    'POST /api/tasks/preview-prompt',
    'GET /api/user/tasks',
  ],
  'tasks:write': [
    'POST /api/agent/create-task',
    'POST /api/agent/confirm-task',
    'PATCH /api/tasks/:id',
    'DELETE /api/tasks/:id',
    'POST /api/tasks/preview-sources',
    'POST /api/tasks/:id/duplicate',
    'POST /api/tasks/:id/versions/:number/restore',
    'POST /api/tasks/:id/skip-next',
    'POST /api/tasks/:id/feed',
    'DELETE /api/tasks/:id/feed',
    'POST /api/user/import',
  ],
  'executions:read': [
    'GET /api/executions',
    'GET /api/executions/:id',
    'GET /api/executions/:id/details',
    'GET /api/executions/:id/diff',
    'GET /api/executions/:id/questions',
    'GET /api/alerts',
    'POST /api/alerts/:id/acknowledge',
    'POST /api/executions/:id/seen',
    'POST /api/executions/seen',
  ],
  'executions:run': [
    'POST /api/tasks/:id/execute',
    'POST /api/tasks/:id/backfill',
    'POST /api/executions/:id/retry',
    'POST /api/executions/:id/cancel',
  ],
  'events:read': ['GET /api/events'],
  'agent:run': ['POST /api/agent/process', 'POST /api/executions/:id/ask'],
  'uploads:write': ['POST /api/upload', 'DELETE /api/upload'],
  'webhooks:read': [
    ...['GET /api/webhooks', 'GET /api/webhooks/:id', 'GET /api/webhooks/:id/logs'],
    'GET /api/webhooks/:id/logs/:logId',
    ...['GET /api/channels', 'GET /api/channels/:id', 'GET /api/channels/:id/logs'],
  ],
  'webhooks:write': [
    'POST /api/webhooks',
    'PATCH /api/webhooks/:id',
    'DELETE /api/webhooks/:id',
    'POST /api/webhooks/:id/rotate-secret',
    'POST /api/webhooks/:id/test',
    'POST /api/webhooks/:id/redeliver',
    'POST /api/webhooks/:id/logs/:deliveryId/redeliver',
    'POST /api/channels',
    'PATCH /api/channels/:id',
    'DELETE /api/channels/:id',
    'POST /api/channels/:id/test',
    'POST /api/channels/:id/logs/:deliveryId/redeliver',
  ],
  'usage:read': ['GET /api/usage', 'GET /api/usage/alerts', 'GET /api/notifications'],
  'profile:read': ['GET /api/user', 'GET /api/user/settings'],
  'profile:write': [
    'PATCH /api/user',
    'PATCH /api/user/settings',
    'POST /api/usage/alerts',
    'DELETE /api/usage/alerts/:id',
    'POST /api/notifications/:id/read',
    'POST /api/user/feed',
    'DELETE /api/user/feed',
  ],
  admin: [
    'GET /api/admin/audit',
    'GET /api/admin/coupons',
    'POST /api/admin/coupons',
    'GET /api/admin/coupons/:id',
    'PATCH /api/admin/coupons/:id',
    'DELETE /api/admin/coupons/:id',
    'GET /api/admin/coupons/:id/usage',
    'GET /api/admin/providers',
    'POST /api/admin/providers',
    'POST /api/admin/providers/test',
    'PATCH /api/admin/providers/:id',
    'DELETE /api/admin/providers/:id',
    'GET /api/admin/security',
    'PATCH /api/admin/security',
    'GET /api/admin/settings',
    'PATCH /api/admin/settings',
    'GET /api/admin/stats',
    'GET /api/admin/users',
    'GET /api/admin/users/:id',
    'PATCH /api/admin/users/:id',
    'DELETE /api/admin/users/:id',
  ],
};

const routes = listRoutes(app).flatMap(({ method, url, config }) => {
  const needsCaller = config?.access === 'user' || config?.access === 'admin';
  return needsCaller && method !== 'HEAD' ? [{ name: `${method} ${url}`, method, url, scope: config.scope }] : [];
});

t.test('The scopes are those of the specification', async (t) => {
  const specified = [
    'tasks:read tasks:write executions:read executions:run agent:run uploads:read uploads:write webhooks:read',
    'webhooks:write usage:read events:read profile:read profile:write admin',
  ];
  t.same(Object.keys(API_KEY_SCOPES), specified.join(' ').split(' '));
});

t.test('Every route that needs a caller has its scope, or takes no key', async (t) => {
  const found: Record<string, string[]> = {};
  for (const { name, scope = 'none: sessions only' } of routes) found[scope] = [...(found[scope] ?? []), name];
  const sorted = (groups: Record<string, string[]>) =>
    Object.fromEntries(Object.entries(groups).map(([scope, names]) => [scope, names.sort()]));
  t.strictSame(sorted(found), sorted(SCOPES));
});

t.test(
  'A key without the scope of a route is 403, and a key with every scope is 403 at a route without a scope',
  async (t) => {
    const ada = await signUpAda(app);
    const all = await createKey(app, ada);
    const reader = await createKey(app, ada, { scopes: ['tasks:read'] });
    const writer = await createKey(app, ada, { scopes: ['tasks:write'] });
    for (const { name, method, url, scope } of routes) {
      const path = url.replace(':deliveryId', '00000000-0000-4000-8000-000000000009').replace(':id', '1');
      const ask = (headers: Record<string, string>) => app.inject({ method: method as 'GET', url: path, headers });
      if (scope === undefined) {
        t.match((await ask(all.headers)).json(), { success: false, error: 'Session required' }, name);
        continue;
      }
      const answer = await ask(scope === 'tasks:read' ? writer.headers : reader.headers);
      t.equal(answer.statusCode, 403, name);
      t.match(answer.json(), { success: false, error: 'Missing scope', message: /\S/, details: { scope } }, name);
      if (scope !== 'admin') continue;
      const { authorization } = all.headers;
      for (const adminKey of ['', 'a guess', all.secret]) {
        const refused = await ask({ authorization, ...(adminKey && { 'x-admin-key': adminKey }) });
        t.equal(refused.statusCode, 403, `${name} without the admin key`);
        t.match(refused.json(), { message: 'Admin access required' });
      }
    }
  },
);

t.test('The document names the scope of each operation, and 403', async (t) => {
  const document = await readServedDocument(app);
  t.match(document.components.securitySchemes.apiKey, { type: 'http', scheme: 'bearer' });
  for (const { name, method, url, scope } of routes) {
    const operation = document.paths[url.replace(/:(\w+)/g, '{$1}')][String(method).toLowerCase()];
    t.equal(operation['x-scope'], scope, name);
    const takesKey = operation.security.some((one: object) => 'apiKey' in one);
    t.equal(takesKey, scope !== undefined, name);
    const sentence = scope === undefined ? 'Takes no API key.' : `Scope of an API key: \`${scope}\`.`;
    t.ok(operation.description.endsWith(sentence), name);
    t.match(operation.responses[403].description, /API key/, name);
  }
});

t.test('A route does not boot with a scope that does not fit its access', async (t) => {
  const boot = (config: object) =>
    buildApp(ctx, { routes: (app) => app.get('/x', { config }, async ({ caller }) => caller.id) });
  for (const config of [
    { access: 'user', scope: 'everything' },
    { access: 'user', scope: 'admin' },
    { access: 'admin', scope: 'tasks:read' },
    { access: 'public', scope: 'tasks:read' },
    { access: 'cron', scope: 'tasks:read' },
  ])
    await t.rejects(boot(config), /GET \/x has the wrong scope/);
  await (await boot({ access: 'user', scope: 'tasks:read' })).close();
});
