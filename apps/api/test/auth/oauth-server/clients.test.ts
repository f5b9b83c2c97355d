import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { oauthClients } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t, { type Test } from 'tap';
import { testContext } from '../../support/context.ts';
import { CURSOR_REDIRECTS, PROGRAMS } from '../../support/known-programs.ts';
import {
  allow,
  answer,
  buildRequest,
  CLAUDE,
  connectProgram,
  type Program,
  refresh,
} from '../../support/oauth-client.ts';
import { signUp } from '../../support/people.ts';

const BASE_URL = 'https://carillon.example.com';
const { app, ctx, clock, logged } = await testContext(t, { env: { BASE_URL, DASHBOARD: 'true' } });
const DAY_MS = 24 * 60 * 60 * 1000;

const register = (payload: object) => app.inject({ method: 'POST', url: '/oauth/register', payload });

t.test('Every known program connects and refreshes with each of its addresses', async (t) => {
  for (const { name, id, redirects, registers } of PROGRAMS) {
    const registered = registers && (await register(registers));
    if (registered) {
      t.equal(registered.statusCode, 201, registered.body);
      t.match(registered.json(), { client_name: name, token_endpoint_auth_method: 'none' });
      t.notOk('client_secret' in registered.json());
    }
    for (const redirect of redirects) {
      const program: Program = { id: id ?? registered?.json().client_id, redirect };
      const alice = await signUp(app);
      const tokens = await connectProgram(app, alice, program);
      const refreshed = await refresh(app, program, tokens.refresh_token);
      t.equal(refreshed.statusCode, 200, `${name} ${redirect}`);
      const { apps } = (await app.inject({ url: '/api/user/apps', headers: alice.headers })).json();
      t.match(apps, [{ name }]);
    }
  }
});

t.test('Any other address is refused, also one that is only alike', async (t) => {
  const { client_id: registered } = (await register({ client_name: 'Cursor', redirect_uris: CURSOR_REDIRECTS })).json();
  const wrong: [id: string, redirect: string][] = [
    [CLAUDE.id, 'https://claude.ai/api/mcp/auth_callback/'],
    [CLAUDE.id, 'https://claude.ai.evil.example/api/mcp/auth_callback'],
    [CLAUDE.id, 'https://claude.ai/api/mcp/auth_callback?next=https://evil.example'],
    [CLAUDE.id, 'http://claude.ai/api/mcp/auth_callback'],
    [CLAUDE.id, 'https://claude.ai:8443/api/mcp/auth_callback'],
    [CLAUDE.id, 'http://localhost:1234/callback'],
    ['https://chatgpt.com/oauth/client.json', 'https://chatgpt.com/connector/oauth/a/../../../evil'],
    ['https://claude.ai/oauth/claude-code-client-metadata', 'http://localhost:1234/other'],
    ['https://claude.ai/oauth/claude-code-client-metadata', 'http://localhost.evil.example:1234/callback'],
    ['https://claude.ai/oauth/claude-code-client-metadata', 'http://localhost@evil.example/callback'],
    ['https://claude.ai/oauth/claude-code-client-metadata', 'https://localhost:1234/callback'],
    [registered, 'cursor://other/oauth/callback'],
    [registered, 'http://localhost:8787/other'],
  ];
  const alice = await signUp(app);
  for (const [id, redirect] of wrong) {
    const result = await answer(app, alice, buildRequest({ id, redirect }).search);
    t.match(result, { success: true, data: { kind: 'refused', reason: 'redirect', to: null } }, redirect);
  }
});

t.test('The same registration has the same id, so that a program replaces its connection', async (t) => {
  const body = { client_name: 'Cursor', redirect_uris: CURSOR_REDIRECTS };
  const [first, second] = [(await register(body)).json(), (await register(body)).json()];
  t.equal(first.client_id, second.client_id);
  t.ok(first.client_id.length < 500);
  const other = (await register({ ...body, client_name: 'Other' })).json();
  t.not(other.client_id, first.client_id);
  t.equal((await ctx.db.select().from(oauthClients).where(eq(oauthClients.id, other.client_id))).length, 0, 'unused');
});

t.test('A registration names addresses that a program can have', async (t) => {
  const wrong: [redirects: unknown, error?: string][] = [
    [undefined],
    [[]],
    ['https://a.example/'],
    [[7]],
    [['nothing']],
    [['javascript:alert(1)']],
    [['data:text/html,hello']],
    [['file:///etc/passwd']],
    [['http://a.example/callback']],
    [['https://a.example/callback#fragment']],
    [Array.from({ length: 11 }, (_, at) => `https://a.example/${at}`)],
    [[`https://a.example/${'a'.repeat(500)}`]],
    [Array.from({ length: 5 }, (_, at) => `https://a.example/${at}${'a'.repeat(400)}`), 'invalid_client_metadata'],
  ];
  for (const [redirects, error = 'invalid_redirect_uri'] of wrong) {
    const answer = await register({ client_name: 'A', redirect_uris: redirects });
    t.equal(answer.statusCode, 400, `${redirects}`.slice(0, 80));
    t.match(answer.json(), { error, error_description: String });
  }
  const named = await register({ client_name: '\u202eedualC\n', redirect_uris: ['https://a.example/'] });
  t.equal(named.json().client_name, 'edualC', 'nothing that turns or hides the name');
  const nameless = await register({ redirect_uris: ['https://a.example/callback'] });
  t.equal(nameless.json().client_name, 'a.example');
});

t.test('Registration is limited by address, and can be off', async (t) => {
  const limited = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1', DASHBOARD: 'true' } });
  const payload = { client_name: 'A', redirect_uris: ['https://a.example/'] };
  const statuses = await Promise.all(
    Array.from({ length: 12 }, async () => {
      return (await limited.app.inject({ method: 'POST', url: '/oauth/register', payload })).statusCode;
    }),
  );
  t.same(statuses.sort(), [...Array(10).fill(201), 429, 429]);
  const off = await testContext(t, { env: { OAUTH_REGISTRATION: 'off', DASHBOARD: 'true' } });
  t.equal((await off.app.inject({ method: 'POST', url: '/oauth/register', payload })).statusCode, 403);
  const document = (await off.app.inject('/.well-known/oauth-authorization-server')).json();
  t.notOk('registration_endpoint' in document);
});

t.test('The document of RFC 8414 says what programs look for', async (t) => {
  t.same((await app.inject('/.well-known/oauth-authorization-server')).json(), {
    issuer: BASE_URL,
    authorization_endpoint: `${BASE_URL}/oauth/authorize`,
    token_endpoint: `${BASE_URL}/oauth/token`,
    registration_endpoint: `${BASE_URL}/oauth/register`,
    revocation_endpoint: `${BASE_URL}/oauth/revoke`,
    scopes_supported: [
      ...['tasks:read', 'tasks:write', 'executions:read', 'executions:run', 'webhooks:read', 'usage:read'],
      'offline_access',
    ],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    client_id_metadata_document_supported: true,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${BASE_URL}/api/docs`,
  });
});

/** Serves documents under https addresses of other hosts, as the guard would fetch them. */
async function serveDocuments(t: Test, respond: (path: string) => { status?: number; body: string; headers?: object }) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    const { status = 200, body, headers = {} } = respond(request.url ?? '');
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const { get } = ctx.http;
  ctx.http.get = (request) =>
    get({ ...request, url: request.url.replace(/^https:\/\/[^/]+/, `http://127.0.0.1:${port}`) });
  t.teardown(() => {
    ctx.http.get = get;
  });
  return asked;
}

const describeDocument = (id: string, changes: object = {}) =>
  JSON.stringify({
    ...{ client_id: id, client_name: 'Robot', redirect_uris: ['https://robot.example/callback'] },
    ...{ grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:jwt-bearer'], ...changes },
  });

t.test('A document is fetched once in seven days, and its last good copy is used then', async (t) => {
  const id = 'https://robot.example/oauth/client.json';
  let served = { body: describeDocument(id), status: 200, headers: {} };
  const asked = await serveDocuments(t, () => served);
  const robot = { id, redirect: 'https://robot.example/callback' };
  await connectProgram(app, await signUp(app), robot);
  t.equal(asked.length, 1, 'not for the exchange either');
  served = { body: 'challenge', status: 403, headers: { 'cf-mitigated': 'challenge' } };
  clock.advance(7 * DAY_MS - 1);
  await connectProgram(app, await signUp(app), robot);
  t.equal(asked.length, 1);
  clock.advance(1);
  const result = await answer(app, await signUp(app), buildRequest(robot).search);
  t.match(result, { data: { kind: 'refused', reason: 'client' } });
  t.equal(asked.length, 2);
  t.ok(logged.some(({ client, status, mitigated }) => client === id && status === 403 && mitigated === 'challenge'));
});

t.test('A copy of ours answers where the vendor does not, and the document where the copy is old', async (t) => {
  const redirect = 'https://claude.ai/api/mcp/another_callback';
  let body = 'challenge';
  const asked = await serveDocuments(t, () => ({ body }));
  await connectProgram(app, await signUp(app), CLAUDE);
  t.equal(asked.length, 0);
  body = describeDocument(CLAUDE.id, { client_name: 'Claude', redirect_uris: [redirect] });
  await connectProgram(app, await signUp(app), { ...CLAUDE, redirect });
  t.equal(asked.length, 1);
});

t.test('A document is of its address, small, whole, and without a secret', async (t) => {
  const id = 'https://robot.example/other.json';
  let served: { body: string; status?: number; headers?: object } = { body: '' };
  await serveDocuments(t, () => served);
  const wrong: (typeof served)[] = [
    { body: describeDocument('https://robot.example/another.json') },
    { body: describeDocument(id, { client_secret: 'secret' }) },
    { body: describeDocument(id, { redirect_uris: [] }) },
    { body: describeDocument(id, { note: 'a'.repeat(5 * 1024) }) },
    { body: 'not JSON' },
    { body: '[]' },
    { body: describeDocument(id), status: 404 },
    { body: '', status: 302, headers: { location: 'https://robot.example/oauth/client.json' } },
  ];
  const alice = await signUp(app);
  const { search } = buildRequest({ id, redirect: 'https://robot.example/callback' });
  for (served of wrong) {
    const result = await answer(app, alice, search);
    t.match(result, { data: { kind: 'refused', reason: 'client' } }, served.body.slice(0, 60));
  }
  served = { body: describeDocument(id, { token_endpoint_auth_method: 'private_key_jwt' }) };
  t.match(await answer(app, alice, search), { data: { kind: 'answered' } });
});

t.test('The guard reaches no private address, and nobody without a session makes it fetch', async (t) => {
  const production = await testContext(t, { env: { EGRESS_ALLOW: '', DASHBOARD: 'true' } });
  const fetched: string[] = [];
  const { get } = production.ctx.http;
  production.ctx.http.get = async (request) => {
    const outcome = await get(request);
    fetched.push(`${new URL(request.url).host} ${outcome.kind}`);
    return outcome;
  };
  const alice = await signUp(production.app);
  const hosts = ['127.0.0.1:9', '169.254.169.254', '[::1]', '10.0.0.1', 'localhost:3000'];
  for (const host of hosts) {
    const { search } = buildRequest({ id: `https://${host}/client.json`, redirect: 'https://robot.example/' });
    t.match(await answer(production.app, alice, search), { data: { reason: 'client' } }, host);
  }
  t.same(
    fetched,
    hosts.map((host) => `${host} not_sent`),
  );
  const token = await production.app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=refresh_token&refresh_token=a&client_id=https%3A%2F%2Frobot.example%2Fclient.json',
  });
  t.match(token.json(), { error: 'invalid_client' });
  t.equal(fetched.length, hosts.length);
  for (const id of [
    'http://robot.example/c.json',
    'https://robot.example',
    'https://a:b@robot.example/c',
    'https://robot.example/a/../c',
  ]) {
    t.match(await answer(production.app, alice, buildRequest({ id, redirect: 'https://robot.example/' }).search), {
      data: { reason: 'client' },
    });
  }
  t.equal(fetched.length, hosts.length, 'addresses that no document can have');
});

t.test('A blocked program is refused with a code and with a refresh token too', async (t) => {
  const alice = await signUp(app);
  const tokens = await connectProgram(app, alice);
  const pending = await allow(app, alice, CLAUDE);
  t.ok(pending.code);
  await ctx.db.update(oauthClients).set({ blockedAt: ctx.now() }).where(eq(oauthClients.id, CLAUDE.id));
  t.match((await refresh(app, CLAUDE, tokens.refresh_token)).json(), { error: 'invalid_client' });
  await ctx.db.update(oauthClients).set({ blockedAt: null }).where(eq(oauthClients.id, CLAUDE.id));
});
