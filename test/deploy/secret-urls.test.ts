import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { testContext } from '../../apps/api/test/support/context.ts';
import { listRoutes } from '../../apps/api/test/support/contract/conformance.ts';
import { until } from '../../apps/api/test/support/until.ts';
import { ROOT, readPage } from '../docs/pages.ts';
import { findStablePort } from '../system/ports.ts';
import { hasNginx, startNginx } from '../system/servers/nginx.ts';

const SECRET = 'planted-secret-0123456789';
/** Parameters that are no secrets. A new one has to be listed here, or its address is a secret. */
const PUBLIC = ['id', 'userId', 'provider', 'deliveryId', 'number'];

const { app } = await testContext(t, { env: { STORAGE_DRIVER: 'disk' } });

/** Whether the query of a route has a field that is a secret, by its schema. */
const hasSecretQuery = (schema: unknown): boolean => {
  const { properties = {} } = ((schema as { querystring?: unknown } | undefined)?.querystring ?? {}) as {
    properties?: object;
  };
  return Object.keys(properties).some((name) => /^(token|code|secret|key)$/.test(name));
};

const paths = [
  '/setup?token=SECRET',
  '/api/auth/oauth/github/callback?code=SECRET',
  ...listRoutes(app).flatMap(({ url, schema }) => {
    const isSecret = [...url.matchAll(/:(\w+)/g)].some(([, name = '']) => !PUBLIC.includes(name));
    const path = url.replaceAll(/:(\w+)/g, (_, name) => (PUBLIC.includes(name) ? '7' : 'SECRET'));
    return isSecret ? [path] : hasSecretQuery(schema) ? [`${path}?token=SECRET&code=SECRET`] : [];
  }),
];
const urls = [...new Set(paths)].map((path) => path.replaceAll('SECRET', SECRET));

t.test('The routes with a secret in their address are known', async (t) => {
  for (const start of [
    '/api/webhooks/7/',
    '/feeds/',
    '/files/',
    '/handler/reset-password/',
    '/handler/confirm-email/',
    '/unsubscribe/',
    '/setup',
    '/api/auth/oauth/github/callback',
    '/api/auth/validate-reset-token',
  ])
    t.ok(
      urls.some((url) => url.startsWith(start)),
      start,
    );
});

t.test('Caddy replaces what is secret in the addresses that it logs', async (t) => {
  const [, pattern = '', replacement = ''] =
    /request>uri regexp (\S+) (\S+)/.exec(readFileSync(join(ROOT, 'deploy/Caddyfile'), 'utf8')) ?? [];
  for (const url of urls) {
    const logged = url.replace(new RegExp(pattern, 'g'), (_, begin = '') => replacement.replace(/^\S+?\}/, begin));
    t.notMatch(logged, SECRET, logged);
  }
  t.equal('/api/tasks/7'.replace(new RegExp(pattern, 'g'), ''), '/api/tasks/7');
});

t.test('The page about other proxies names the beginning of each of them', async (t) => {
  const [row = ''] = /^\| Logs \|.*$/m.exec(readPage('docs/operating/reverse-proxy.md')) ?? [];
  const starts = [...row.matchAll(/`([^`]+)`/g)].map(([, start = '']) => start);
  for (const url of urls)
    t.ok(
      starts.some((start) => url.startsWith(start)),
      url,
    );
});

const skip = hasNginx() ? false : 'needs nginx (apt-get install nginx)';

t.test('nginx logs none of them, also while no process answers', { skip }, async (t) => {
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'carillon-nginx-'));
  const nginx = await startNginx(stack, {
    folder,
    apiPorts: [await findStablePort(), await findStablePort()],
    tls: null,
  });
  for (const url of urls) for (const method of ['GET', 'POST']) await (await fetch(nginx.url + url, { method })).text();
  const encoded = urls.map((url) => url.replace(/^\/(.)/, (_, one) => `/%${one.charCodeAt(0).toString(16)}`));
  for (const url of encoded) await (await fetch(nginx.url + url)).text();
  await (await fetch(`${nginx.url}/api/tasks/7`)).text();
  const readLogs = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('\n');
  // nginx writes the line of a request after its answer.
  await until(async () => /"GET \/api\/tasks\/7" 502/.test(readLogs()));
  const logs = readLogs();
  t.equal(logs.match(/\(secret URL\)/g)?.length, 3 * urls.length);
  t.notMatch(logs, SECRET);
  t.match(nginx.process.output(), 'GET /api/tasks/7', 'the error log has other addresses');
  t.notMatch(nginx.process.output(), SECRET);
});
