import t from 'tap';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';

const APP_URL = 'https://app.example.com/home';
const APP = 'https://app.example.com';

const { app } = await testContext(t, { env: { BASE_URL: 'https://api.example.com', APP_URL } });
const alice = await signUpAlice(app);

t.test('The web application can read every answer, errors and rate limits included', async (t) => {
  for (const [url, status] of Object.entries({ '/api/user': 401, '/api/health': 200, '/nothing': 404, '/%ff': 400 })) {
    const { headers, statusCode } = await app.inject({ url, headers: { origin: APP } });
    t.equal(statusCode, status, url);
    if (status === 400) continue;
    t.equal(headers['access-control-allow-origin'], APP, url);
    t.equal(headers['access-control-allow-credentials'], 'true', url);
    t.match(headers['access-control-expose-headers'], /X-Request-ID.*ETag.*Retry-After.*X-RateLimit-Remaining/, url);
  }
});

t.test('Each origin of CORS_ORIGINS can read answers, and APP_URL only if it is listed', async (t) => {
  const listed = ['https://desk.example.com', 'http://localhost:5173'];
  const { app } = await testContext(t, { env: { APP_URL, CORS_ORIGINS: listed.join(', ') } });
  for (const origin of [...listed, APP, 'https://evil.example']) {
    const allowed = listed.includes(origin) ? origin : undefined;
    const preflight = { origin, 'access-control-request-method': 'POST' };
    const answers = [
      await app.inject({ url: '/api/user', headers: { origin } }),
      await app.inject({ method: 'OPTIONS', url: '/api/user', headers: preflight }),
    ];
    for (const { headers } of answers) {
      t.equal(headers['access-control-allow-origin'], allowed, origin);
      t.equal(headers['access-control-allow-credentials'], allowed && 'true', origin);
    }
  }
});

t.test('Other origins get no CORS headers', async (t) => {
  const others = [
    'https://evil.example',
    'null',
    'https://api.example.com',
    'http://app.example.com',
    `${APP}.evil.example`,
    `${APP}:8443`,
    '',
  ];
  for (const origin of others) {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const headers = { origin, 'access-control-request-method': 'PATCH', ...alice.headers };
      const response = await app.inject({ method, url: '/api/user', headers });
      t.equal(response.headers['access-control-allow-origin'], undefined, `${method} ${origin}`);
      t.equal(response.headers['access-control-allow-credentials'], undefined, `${method} ${origin}`);
      t.notMatch(JSON.stringify(response.headers), 'evil', `${method} ${origin}`);
    }
  }
});

t.test('Caches keep the answers of two origins apart', async (t) => {
  for (const headers of [{ origin: APP }, { origin: 'https://evil.example' }, {}]) {
    t.match((await app.inject({ url: '/api/health', headers })).headers.vary, /\borigin\b/i);
  }
});

t.test('A preflight is answered without a session and without being counted', async (t) => {
  for (const method of ['GET', 'POST', 'PATCH', 'DELETE']) {
    const headers = {
      origin: APP,
      'access-control-request-method': method,
      'access-control-request-headers': 'authorization',
    };
    const response = await app.inject({ method: 'OPTIONS', url: '/api/user', headers });
    t.equal(response.statusCode, 204, method);
    t.equal(response.body, '');
    t.equal(response.headers['access-control-allow-origin'], APP);
    t.match(response.headers['access-control-allow-methods'], method);
    t.match(
      response.headers['access-control-allow-headers'],
      /Content-Type.*Authorization.*If-Match, If-None-Match.*X-Request-Token/,
    );
    t.equal(response.headers['x-ratelimit-limit'], undefined);
    t.ok(response.headers['x-request-id']);
  }
});

t.test('OPTIONS that is not a preflight of the web application is an unknown route', async (t) => {
  const tries: Record<string, string>[] = [
    {},
    { origin: APP },
    { 'access-control-request-method': 'GET' },
    { origin: 'https://evil.example', 'access-control-request-method': 'GET' },
  ];
  for (const headers of tries) {
    const response = await app.inject({ method: 'OPTIONS', url: '/api/user', headers });
    t.equal(response.statusCode, 404, JSON.stringify(headers));
    t.match(response.json(), { success: false, error: 'Not found' });
  }
});

t.test('Every answer forbids to run, frame, sniff or cache it, and does not name the server', async (t) => {
  for (const url of ['/', '/api/health', '/api/user', '/nothing']) {
    const { headers } = await app.inject(url);
    t.match(headers, {
      'content-security-policy': "default-src 'none';base-uri 'none';form-action 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'strict-transport-security': 'max-age=31536000',
      'cache-control': 'no-store',
    });
    t.equal(headers['x-powered-by'], undefined);
    t.equal(headers.server, undefined);
  }
});

t.test('HSTS is sent only if BASE_URL is https', async (t) => {
  const plain = await testContext(t, { env: { BASE_URL: 'http://localhost:3000' } });
  const { headers } = await plain.app.inject('/api/health');
  t.equal(headers['strict-transport-security'], undefined);
  t.notMatch(headers['content-security-policy'], 'upgrade-insecure-requests');
});

t.test('The documentation page can load its own files and nothing else', async (t) => {
  const page = await app.inject('/api/docs');
  const policy = String(page.headers['content-security-policy']);
  t.match(policy, /default-src 'none'/);
  t.match(policy, /script-src 'self'\s*;/);
  t.notMatch(policy, /unsafe-eval/);
  for (const [, src] of page.body.matchAll(/(?:src|href)="([^"]+)"/g)) {
    const asset = await app.inject(new URL(src ?? '', 'https://api.example.com/api/docs/').pathname);
    t.equal(asset.statusCode, 200, src ?? '');
    t.match(asset.headers['content-type'], /javascript|css|png|html|json/, src ?? '');
  }
  t.notMatch(
    page.body,
    /<script(?![^>]*src=)[^>]*>[^<]/,
    'no script in the page itself, which the policy would not run',
  );
});
