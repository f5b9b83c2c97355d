import { settings } from '@carillon/db';
import t from 'tap';
import { buildApp } from '../../../src/entry/app.ts';
import { SESSION_COOKIE } from '../../../src/platform/http/credentials.ts';
import { CRON_SECRET, testContext } from '../../support/context.ts';
import { listRoutes } from '../../support/contract/conformance.ts';
import { countStatements } from '../../support/database.ts';
import { createKey } from '../../support/keys.ts';
import { PASSWORD, signUpAda, signUpAlice } from '../../support/people.ts';

const { app, ctx } = await testContext(t);
const alice = await signUpAlice(app);
const ada = await signUpAda(app);
const { headers: keyHeaders } = await createKey(app, alice);
const setMode = (maintenanceMode: boolean) => ctx.db.update(settings).set({ maintenanceMode });
t.afterEach(() => setMode(false));

const CLOSED = { success: false, error: 'Service unavailable', message: /maintenance/ };
const OPEN = new Set([
  '/',
  '/api/health',
  '/api/health/live',
  '/api/health/ready',
  '/api/auth/login',
  '/api/auth/second-factor',
  '/api/auth/passkey/options',
  '/api/auth/passkey',
  '/api/auth/logout',
  '/api/auth/session',
  '/api/cron/scheduler',
]);
const isOpen = (url: string) =>
  OPEN.has(url) || url.startsWith('/api/docs') || url.startsWith('/api/auth/oauth/') || url === '*';

t.test('Every route of the API that is not open answers 503 with Retry-After', async (t) => {
  await setMode(true);
  let closed = 0;
  for (const { method, url, config } of listRoutes(app)) {
    if (isOpen(url) || config?.access === 'page') continue;
    const path = url.replaceAll(/:\w+/g, '1');
    const headers = config?.access === 'key' ? keyHeaders : alice.headers;
    const response = await app.inject({ method: [method].flat()[0] as 'GET', url: path, headers });
    t.equal(response.statusCode, 503, `${method} ${url}`);
    if (method === 'HEAD') t.equal(response.body, '', url);
    else t.match(response.json(), CLOSED);
    t.ok(Number(response.headers['retry-after']) > 0);
    closed += 1;
  }
  t.ok(closed > 15, `${closed} routes`);
});

t.test('Health, documentation, signing in and out, and the scheduler stay open', async (t) => {
  await setMode(true);
  const probes = ['/api/health', '/api/health/live', '/api/health/ready'];
  for (const url of ['/', ...probes, '/api/docs', '/api/docs/json', '/api/auth/session']) {
    t.equal((await app.inject({ url, headers: alice.headers })).statusCode, 200, url);
  }
  const login = await app.inject({
    method: 'POST',
    url: '/api/auth/login',
    payload: { email: alice.email, password: PASSWORD },
  });
  t.equal(login.statusCode, 200);
  const [, token = ''] = /^local-session=([^;]+)/.exec(String(login.headers['set-cookie'])) ?? [];
  const headers = { cookie: `${SESSION_COOKIE}=${token}` };
  t.equal((await app.inject({ method: 'POST', url: '/api/auth/logout', headers })).statusCode, 200);
  const tick = await app.inject({ url: '/api/cron/scheduler', headers: { authorization: `Bearer ${CRON_SECRET}` } });
  t.equal(tick.statusCode, 200);
  t.equal((await app.inject('/nothing')).statusCode, 404);
});

t.test('An admin can work, and a request without a session is 401', async (t) => {
  await setMode(true);
  t.equal((await app.inject({ url: '/api/user', headers: ada.headers })).statusCode, 200);
  t.equal((await app.inject('/api/user')).statusCode, 401);
});

t.test('A change of the mode holds from the next request in every process', async (t) => {
  const other = await buildApp(ctx);
  t.teardown(() => other.close());
  for (const mode of [true, false, true, false]) {
    await setMode(mode);
    for (const process of [app, other]) {
      t.equal((await process.inject({ url: '/api/user', headers: alice.headers })).statusCode, mode ? 503 : 200);
      const payload = { email: 'nobody@example.com' };
      const forgot = await process.inject({ method: 'POST', url: '/api/auth/forgot-password', payload });
      t.equal(forgot.statusCode, mode ? 503 : 200);
    }
  }
});

t.test('The mode costs a signed-in request no query of its own', async (t) => {
  const stop = countStatements(ctx.db);
  await app.inject({ url: '/api/auth/session', headers: alice.headers });
  t.equal(stop(), 2, 'session with maintenance, and rate limit');
});
