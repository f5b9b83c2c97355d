import t from 'tap';
import { SESSION_COOKIE } from '../../src/platform/http/credentials.ts';
import { CRON_SECRET, testContext } from '../support/context.ts';
import { PASSWORD, signUpAda, signUpAlice } from '../support/people.ts';

const BASE_URL = 'https://api.example.com';
const APP_URL = 'https://app.example.com';
const OWN = ['https://api.example.com', 'https://app.example.com'];
const LISTED = ['https://desk.example.com', 'https://partner.example'];
const FOREIGN = [
  'https://evil.example',
  'null',
  'http://api.example.com',
  'https://api.example.com:8443',
  'https://x.app.example.com',
  '',
];

const { app } = await testContext(t, {
  env: { BASE_URL, APP_URL, CORS_ORIGINS: LISTED.join() },
  routes: (app) => {
    const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
    app.route({ method: methods, url: '/mine', config: { access: 'user' }, handler: async () => 'done' });
    app.route({ method: ['POST'], url: '/admin', config: { access: 'admin' }, handler: async () => 'done' });
    app.post('/hooks', { config: { access: 'public' } }, async () => 'done');
  },
});
const alice = await signUpAlice(app);
const ada = await signUpAda(app);
const cookie = `${SESSION_COOKIE}=${alice.token}`;

type Headers = Record<string, string>;
const send = async (headers: Headers, method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' = 'POST', url = '/mine') =>
  (await app.inject({ method, url, headers })).statusCode;

t.test('A change that another site makes a browser send with the cookie is refused', async (t) => {
  for (const site of ['cross-site', 'same-site']) {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      t.equal(await send({ cookie, 'sec-fetch-site': site }, method), 403, `${method} ${site}`);
    }
    for (const origin of [...OWN, ...LISTED, ...FOREIGN]) {
      t.equal(await send({ cookie, 'sec-fetch-site': site, origin }), 403, `with any Origin: ${site} ${origin}`);
    }
    t.equal(
      await send({ cookie, authorization: 'Basic YTpi', 'sec-fetch-site': site }),
      403,
      'the sign-in of a proxy in front is not a session',
    );
  }
  const response = await app.inject({
    method: 'POST',
    url: '/mine',
    headers: { cookie, 'sec-fetch-site': 'cross-site' },
  });
  t.same(response.json(), {
    success: false,
    error: 'This request comes from another site.',
  });
});

t.test('Without Sec-Fetch-Site the Origin header decides', async (t) => {
  for (const origin of FOREIGN) t.equal(await send({ cookie, origin }), 403, origin);
  for (const origin of LISTED) t.equal(await send({ cookie, origin }), 403, `${origin} uses a token`);
  for (const origin of OWN) t.equal(await send({ cookie, origin }), 200, origin);
  t.equal(
    await send({ cookie, origin: 'https://evil.example', 'sec-fetch-site': 'made-up' }),
    403,
    'also beside one that no browser sends',
  );
});

t.test('Pages of the service itself and other programs pass', async (t) => {
  t.equal(await send({ cookie }), 200, 'no browser');
  for (const site of ['same-origin', 'none']) {
    t.equal(await send({ cookie, 'sec-fetch-site': site }), 200, site);
    t.equal(await send({ cookie, 'sec-fetch-site': site, origin: 'https://behind-a-proxy.example' }), 200, site);
  }
});

t.test('Reads pass: they change nothing, and CORS hides the answer from other pages', async (t) => {
  t.equal(await send({ cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, 'GET'), 200);
});

t.test('A bearer token passes, because browsers never send one on their own', async (t) => {
  for (const site of ['cross-site', 'same-site', 'none']) {
    const headers = { ...alice.headers, cookie, 'sec-fetch-site': site, origin: 'https://evil.example' };
    t.equal(await send(headers), 200, site);
  }
});

t.test('A request without a session is still 401, also with the wrong one of two headers', async (t) => {
  t.equal(await send({ 'sec-fetch-site': 'cross-site' }), 401);
  t.equal(await send({ cookie: `${SESSION_COOKIE}=wrong` }), 401);
});

t.test('The cookie and key of an admin are refused like a cookie without the key', async (t) => {
  const admin = { cookie: `${SESSION_COOKIE}=${ada.token}`, 'x-admin-key': ada.headers['x-admin-key'] ?? '' };
  t.equal(await send({ ...admin, 'sec-fetch-site': 'same-origin' }, 'POST', '/admin'), 200);
  t.equal(await send({ ...admin, 'sec-fetch-site': 'cross-site' }, 'POST', '/admin'), 403);
});

t.test('A page of another site cannot sign in, register or reset a password', async (t) => {
  const forms = {
    '/api/auth/login': { email: alice.email, password: PASSWORD },
    '/api/auth/register': { name: 'Carol', email: 'carol@example.com', password: PASSWORD },
    '/api/auth/forgot-password': { email: alice.email },
    '/api/auth/reset-password': { token: 'x'.repeat(64), newPassword: PASSWORD },
  };
  for (const [url, payload] of Object.entries(forms)) {
    const submit = async (headers: Headers) => (await app.inject({ method: 'POST', url, payload, headers })).statusCode;
    for (const origin of FOREIGN)
      t.equal(await submit({ origin, 'sec-fetch-site': 'cross-site' }), 403, `${url} ${origin}`);
    for (const origin of FOREIGN) t.equal(await submit({ origin }), 403, `${url} ${origin} alone`);
    for (const site of ['cross-site', 'same-site'])
      t.equal(await submit({ 'sec-fetch-site': site }), 403, `${url} ${site}`);
  }
  const login = (headers: Headers) =>
    app.inject({ method: 'POST', url: '/api/auth/login', payload: forms['/api/auth/login'], headers });
  for (const origin of [...OWN, ...LISTED]) {
    for (const site of ['same-site', 'cross-site']) {
      t.equal((await login({ origin, 'sec-fetch-site': site })).statusCode, 200, `${origin} signs in`);
    }
  }
  t.equal((await login({})).statusCode, 200);
});

t.test('The scheduler and signed webhooks are accepted from anywhere', async (t) => {
  const hostile = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  t.equal(await send(hostile, 'POST', '/hooks'), 200);
  t.equal(await send({ ...hostile, authorization: `Bearer ${CRON_SECRET}` }, 'GET', '/api/cron/scheduler'), 200);
  t.equal(await send({ ...hostile, cookie }, 'POST', '/nothing'), 404);
});

t.test('A body that a plain form of another site could send is not parsed', async (t) => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
    const payload = JSON.stringify({ email: alice.email, password: PASSWORD });
    const response = await app.inject({
      method: 'POST',
      url: '/api/auth/login',
      payload,
      headers: { 'content-type': type },
    });
    t.equal(response.statusCode, 400, type);
  }
});

t.test('At a loopback address, a page of the service may have any name of the machine', async (t) => {
  const { app } = await testContext(t, { env: { BASE_URL: 'http://localhost:3000' } });
  const signIn = async (origin: string) =>
    (await app.inject({ method: 'POST', url: '/api/auth/login', headers: { origin }, body: {} })).statusCode;
  for (const host of ['localhost', '127.0.0.1', '[::1]']) {
    t.equal(await signIn(`http://${host}:3000`), 400, `${host} may, with a valid body`);
    t.equal(await signIn(`http://${host}:3001`), 403, `another port of ${host} may not`);
  }
  t.equal(await signIn('http://localhost.example:3000'), 403);
});
