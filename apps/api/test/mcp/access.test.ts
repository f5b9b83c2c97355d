import { users } from '@carillon/db';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { TOOLS } from '../../src/handlers/mcp/tools/index.ts';
import { SESSION_COOKIE } from '../../src/platform/http/credentials.ts';
import { generateApiKey } from '../../src/product/auth/tokens.ts';
import { START, testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { ERA_2026, post, postRaw } from '../support/mcp.ts';
import { signUp, signUpAlice } from '../support/people.ts';

const BASE_URL = 'https://carillon.example.com';
const SCOPES = 'tasks:read tasks:write executions:read executions:run webhooks:read usage:read';
const METADATA = `resource_metadata="${BASE_URL}/.well-known/oauth-protected-resource/mcp", scope="${SCOPES}"`;
const CORS_ORIGINS = 'https://desk.example.com';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

const { app, ctx, clock } = await testContext(t, {
  env: { BASE_URL, APP_URL: 'https://app.example.com', CORS_ORIGINS, DASHBOARD: 'true' },
});
const url = new URL('/mcp', await app.listen({ host: '127.0.0.1', port: 0 }));
const alice = await signUpAlice(app);
const { headers, secret } = await createKey(app, alice);

t.test('Only an API key in the header Authorization is accepted', async (t) => {
  t.equal((await post(url, headers, PING)).status, 200);
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const mistyped = `${secret.slice(0, -1)}${secret.at(-1) === 'x' ? 'y' : 'x'}`;
  const without: [what: string, headers: Record<string, string>, to?: URL][] = [
    ['nothing', {}],
    ['the cookie of a session', { cookie: `${SESSION_COOKIE}=${alice.token}` }],
    ['a key in the cookie', { cookie: `${SESSION_COOKIE}=${secret}` }],
    ['a key in the address', {}, new URL(`/mcp?access_token=${secret}`, url)],
  ];
  const wrong: typeof without = [
    ['the token of a session', bearer(alice.token)],
    ['an unknown key', bearer(generateApiKey())],
    ['a key with a wrong checksum', bearer(mistyped)],
    ['another scheme', { authorization: `Basic ${secret}` }],
    ['an empty header', { authorization: '' }],
  ];
  for (const [what, given, to = url] of [...without, ...wrong]) {
    const { status, headers, message } = await post(to, given, PING);
    t.equal(status, 401, what);
    const isWrong = wrong.some(([name]) => name === what);
    t.equal(headers.get('www-authenticate'), `Bearer ${isWrong ? 'error="invalid_token", ' : ''}${METADATA}`, what);
    t.match(message, { success: false, error: 'Unauthorized', message: /API key/ }, what);
  }
  const twice = ['Authorization', `Bearer ${secret}`, 'Authorization', `Bearer ${secret}`];
  t.equal(await postRaw(url, [...twice, 'Content-Length', '0']), 401, 'two headers');
});

t.test('A deleted or expired key, and one of a deactivated account, is 401', async (t) => {
  const deleted = await createKey(app, alice);
  await app.inject({ method: 'DELETE', url: `/api/keys/${deleted.id}`, headers: alice.headers });
  t.equal((await post(url, deleted.headers, PING)).status, 401, 'deleted');
  const expiresAt = new Date(START.getTime() + 60_000).toISOString();
  const expiring = await createKey(app, alice, { expiresAt });
  t.equal((await post(url, expiring.headers, PING)).status, 200);
  clock.advance(60_000);
  t.equal((await post(url, expiring.headers, PING)).status, 401, 'expired');
  const bob = await signUp(app);
  const his = await createKey(app, bob);
  t.equal((await post(url, his.headers, PING)).status, 200);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, bob.id));
  t.equal((await post(url, his.headers, PING)).status, 401, 'deactivated');
});

t.test('The documents of RFC 9728 name the resource and the scopes of its tools', async (t) => {
  for (const path of ['', '/mcp']) {
    const response = await app.inject(`/.well-known/oauth-protected-resource${path}`);
    t.equal(response.statusCode, 200);
    const { scopes_supported: scopes, ...document } = response.json();
    t.same(document, {
      resource: `${BASE_URL}/mcp`,
      resource_name: 'Carillon',
      authorization_servers: [BASE_URL],
      bearer_methods_supported: ['header'],
      resource_documentation: `${BASE_URL}/api/docs`,
    });
    t.same(scopes, SCOPES.split(' '));
    t.same([...scopes].sort(), [...new Set(TOOLS.map(({ scope }) => scope))].sort(), 'what the tools need');
  }
});

const opened: URL[] = [];

/** Remembers nothing. */
const signIn = {
  redirectUrl: 'http://127.0.0.1:1/callback',
  clientMetadata: { redirect_uris: ['http://127.0.0.1:1/callback'], client_name: 'A test' },
  clientInformation: () => undefined,
  saveClientInformation: () => {},
  tokens: () => undefined,
  saveTokens: () => {},
  redirectToAuthorization: (to: URL) => void opened.push(to),
  saveCodeVerifier: () => {},
  codeVerifier: () => 'none',
};

t.test('A client without a key ends with an error, or opens the page that connects it', async (t) => {
  const INFO = { name: 'A test', version: '1.0.0' };
  for (const authProvider of [undefined, signIn]) {
    const asked: string[] = [];
    const toTest = (to: string | URL, init?: RequestInit) => {
      const { pathname } = new URL(to);
      asked.push(`${init?.method ?? 'GET'} ${pathname}`);
      return fetch(new URL(pathname, url), init);
    };
    const options = { fetch: toTest, ...(authProvider && { authProvider: authProvider as never }) };
    const target = new URL('/mcp', BASE_URL);
    const attempts = [
      () => new Client(INFO, ERA_2026).connect(new StreamableHTTPClientTransport(target, options)),
      () => new EarlierClient(INFO).connect(new EarlierTransport(target, options) as never),
    ];
    for (const attempt of attempts) {
      const error = await attempt().then(
        () => t.fail('It has connected.'),
        (error: Error) => error,
      );
      t.ok(error instanceof Error);
      const { message } = error as Error;
      t.match(message, /API key|HTTP 401|Unauthorized/, `${asked.join(', ')}: ${message}`);
      t.notMatch(message, /<html/);
    }
    t.ok(asked.length < 15, asked.join(', '));
  }
  t.same(
    opened.map(({ origin, pathname }) => origin + pathname),
    [`${BASE_URL}/oauth/authorize`, `${BASE_URL}/oauth/authorize`],
  );
  t.equal(opened[0]?.searchParams.get('scope'), SCOPES, 'what the challenge names');
});

t.test('A request of a page of another site is refused before its key is read', async (t) => {
  for (const origin of ['https://evil.example', 'null', 'https://carillon.example.com:8443', 'http://localhost:3000']) {
    for (const given of [headers, {}]) {
      const { status, message } = await post(url, { ...given, origin }, PING);
      t.equal(status, 403, origin);
      t.match(message, { error: 'This request comes from another site.' });
    }
  }
  for (const origin of [BASE_URL, 'https://app.example.com', CORS_ORIGINS]) {
    t.equal((await post(url, { ...headers, origin }, PING)).status, 200, origin);
  }
  const preflight = await app.inject({
    method: 'OPTIONS',
    url: '/mcp',
    headers: { origin: CORS_ORIGINS, 'access-control-request-method': 'POST' },
  });
  t.equal(preflight.statusCode, 204);
  t.match(
    preflight.headers['access-control-allow-headers'],
    /Authorization.*MCP-Protocol-Version, Mcp-Method, Mcp-Name/,
  );
});

t.test('GET and DELETE are 405 with Allow', async (t) => {
  for (const method of ['GET', 'DELETE'] as const) {
    const response = await app.inject({ method, url: '/mcp', headers });
    t.equal(response.statusCode, 405);
    t.equal(response.headers.allow, 'POST');
    t.match(response.json(), { jsonrpc: '2.0', error: { message: /POST/ } });
  }
});

t.test('Requests have a limit of their own, which the statement that finds the key counts', async (t) => {
  const limited = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '0.005' } });
  const key = await createKey(limited.app, await signUp(limited.app));
  const send = () =>
    limited.app.inject({
      method: 'POST',
      url: '/mcp',
      headers: { ...key.headers, accept: 'application/json, text/event-stream' },
      payload: PING,
    });
  const statuses = [];
  for (let n = 0; n < 4; n++) statuses.push((await send()).statusCode);
  t.same(statuses, [200, 200, 200, 429]);
  const refused = await send();
  t.match(refused.headers, { 'retry-after': /\d+/, 'x-ratelimit-limit': '3', 'x-ratelimit-policy': 'user' });
  t.match(refused.json(), { error: 'Rate limit exceeded' });
});

t.test('The OpenAPI document names the address, and leaves the description to the protocol', async (t) => {
  const { info, paths } = (await app.inject('/api/docs/json')).json();
  t.match(info.description, /POST \/mcp/);
  t.notOk(Object.keys(paths).some((path) => path.startsWith('/mcp') || path.startsWith('/.well-known')));
});
