import { request } from 'node:http';
import { apiKeys, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { buildApp } from '../../../src/entry/app.ts';
import { generateApiKey } from '../../../src/product/auth/tokens.ts';
import { START, testContext } from '../../support/context.ts';
import { createKey } from '../../support/keys.ts';
import { type Person, signUp, signUpAda } from '../../support/people.ts';
import { postTask } from '../../support/tasks.ts';

const HOUR = 3_600_000;

const { app, ctx, clock, logged } = await testContext(t);
const ada = await signUpAda(app);
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  alice = await signUp(app, { name: 'Alice' });
});

type Headers = Record<string, string>;
const get = (url: string, headers: Headers) => app.inject({ url, headers });
const post = (url: string, headers: Headers, body: object = {}) => app.inject({ method: 'POST', url, headers, body });

t.test('A key can do what its scopes allow, as its owner', async (t) => {
  const { headers } = await createKey(app, alice, { scopes: ['tasks:read', 'profile:read'] });
  const id = await postTask(app, alice);
  t.match((await get(`/api/tasks/${id}`, headers)).json(), { success: true, task: { id, userId: alice.id } });
  t.match((await get('/api/tasks', headers)).json(), { tasks: [{ id }] });
  t.match((await get('/api/user', headers)).json(), { user: { id: alice.id } });
  t.equal((await app.inject({ method: 'HEAD', url: `/api/tasks/${id}`, headers })).statusCode, 200);
});

t.test('A missing scope is 403 with the scope, before the request is validated and without an effect', async (t) => {
  const { headers } = await createKey(app, alice, { scopes: ['tasks:write'] });
  const missing = (scope: string) => ({
    success: false,
    error: 'Missing scope',
    message: `This API key does not have the scope ${scope}.`,
    details: { scope },
  });
  const id = await postTask(app, alice);
  const tries: [string, { method: 'GET' | 'POST' | 'DELETE'; url: string; body?: object }][] = [
    ['tasks:read', { method: 'GET', url: `/api/tasks/${id}` }],
    ['tasks:read', { method: 'GET', url: '/api/tasks?limit=nonsense' }],
    ['tasks:read', { method: 'GET', url: '/api/tasks/2147483647' }],
    ['executions:run', { method: 'POST', url: `/api/tasks/${id}/execute`, body: {} }],
    ['executions:read', { method: 'GET', url: '/api/executions' }],
    ['webhooks:write', { method: 'POST', url: '/api/webhooks', body: { colour: 'red' } }],
    ['uploads:write', { method: 'POST', url: '/api/upload', body: {} }],
    ['uploads:write', { method: 'DELETE', url: '/api/upload', body: {} }],
    ['agent:run', { method: 'POST', url: '/api/agent/process', body: {} }],
  ];
  for (const [scope, options] of tries) {
    const answer = await app.inject({ headers, ...options });
    t.equal(answer.statusCode, 403, options.url);
    t.same(answer.json(), missing(scope));
  }
  t.equal((await get('/api/executions', alice.headers)).json().executions.length, 0);
});

t.test('The object of another user is not found with any scope', async (t) => {
  const { headers } = await createKey(app, await signUp(app, { name: 'Bob' }));
  const id = await postTask(app, alice);
  t.equal((await get(`/api/tasks/${id}`, headers)).statusCode, 404);
  t.equal((await app.inject({ method: 'DELETE', url: `/api/tasks/${id}`, headers })).statusCode, 404);
  t.equal((await post(`/api/tasks/${id}/execute`, headers)).statusCode, 404);
});

t.test('A key is accepted in the header Authorization only', async (t) => {
  const { secret } = await createKey(app, alice);
  const url = '/api/tasks';
  t.equal((await get(url, { authorization: `bearer  ${secret}` })).statusCode, 200);
  const tries: [string, Headers][] = [
    [url, { cookie: `local-session=${secret}` }],
    [url, { cookie: `api_key=${secret}` }],
    [url, { 'x-api-key': secret }],
    [url, { 'x-admin-key': secret }],
    [url, { authorization: secret }],
    [url, { authorization: `Basic ${Buffer.from(`${secret}:`).toString('base64')}` }],
    [url, { authorization: `Token ${secret}` }],
    [url, { authorization: `Bearer ${secret},Bearer ${secret}` }],
    [`${url}?key=${secret}&api_key=${secret}&access_token=${secret}`, {}],
    [`${url}/${secret}`, {}],
    ['/api/cron/scheduler', { authorization: `Bearer ${secret}` }],
  ];
  for (const [path, headers] of tries) {
    const answer = await get(path, headers);
    t.equal(answer.statusCode, 401, JSON.stringify([path, headers]).replace(secret, '…'));
    t.notOk(answer.body.includes(secret));
  }
  const both = { authorization: `Bearer ${generateApiKey()}`, cookie: `local-session=${alice.token}` };
  t.equal((await get(url, both)).statusCode, 401, 'a wrong key is not replaced by the cookie');
});

t.test('Two Authorization headers are 401, with two keys or a key and a session', async (t) => {
  const { app } = await testContext(t);
  const alice = await signUp(app);
  const { secret } = await createKey(app, alice);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const ask = (tokens: string[]) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = ['Host', 'x', ...tokens.flatMap((token) => ['Authorization', `Bearer ${token}`])];
      const asked = request({ port, path: '/api/tasks', headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject).end();
    });
  t.equal(await ask([secret]), 200);
  t.equal(await ask([secret, secret]), 401);
  t.equal(await ask([secret, alice.token]), 401);
  t.equal(await ask([alice.token, secret]), 401);
});

t.test('A key with a wrong checksum or form is 401 without the database', async (t) => {
  const { app, close, ctx } = await testContext(t);
  const { secret } = await createKey(app, await signUp(app));
  const other = secret.at(-1) === 'x' ? 'y' : 'x';
  const statements: string[] = [];
  for (const db of [ctx.db, ctx.db.onSharedConnection]) {
    const client = Reflect.get(db as object, '$client') as { unsafe(text: string, ...rest: unknown[]): unknown };
    const { unsafe } = client;
    client.unsafe = (text, ...rest) => {
      statements.push(text);
      return unsafe.call(client, text, ...rest);
    };
  }
  for (const key of [
    `${secret.slice(0, -1)}${other}`,
    secret.slice(0, -1),
    `${secret}a`,
    'crl_',
    `crl_${'0'.repeat(38)}`,
  ]) {
    const answer = await app.inject({ url: '/api/tasks', headers: { authorization: `Bearer ${key}` } });
    t.equal(answer.statusCode, 401);
    t.equal(answer.headers['www-authenticate'], 'Bearer');
    t.match(answer.json(), { success: false, error: 'Unauthorized' });
  }
  t.same(statements, []);
  t.equal((await app.inject({ url: '/api/tasks', headers: { authorization: `Bearer ${secret}` } })).statusCode, 200);
  t.equal(statements.length > 0, true);
  await close();
});

t.test('Unknown keys count by address like other requests without a session', async (t) => {
  const { app } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '0.0083' } });
  const statuses = [];
  for (let i = 0; i < 7; i++) {
    const headers = { authorization: `Bearer ${generateApiKey()}` };
    statuses.push((await app.inject({ url: '/api/user', headers })).statusCode);
  }
  t.same(statuses, [401, 401, 401, 401, 401, 429, 429]);
});

t.test('The keys and sessions of a user share the rate limits', async (t) => {
  const { app } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '0.05' } });
  const alice = await signUp(app);
  const keys = [await createKey(app, alice), await createKey(app, alice)];
  const statuses = [];
  for (const { headers } of [alice, ...keys, ...keys, ...keys]) {
    const answer = await app.inject({ url: '/api/tasks', headers });
    statuses.push([answer.statusCode, answer.headers['x-ratelimit-remaining']].join(' '));
    t.equal(answer.headers['x-ratelimit-policy'], 'user');
  }
  t.same(statuses, ['200 4', '200 3', '200 2', '200 1', '200 0', '429 0', '429 0']);
});

t.test('A key works until the instant at which it expires', async (t) => {
  const expiresAt = new Date(START.getTime() + HOUR).toISOString();
  const { id, headers } = await createKey(app, alice, { expiresAt });
  clock.advance(HOUR - 1);
  t.equal((await get('/api/tasks', headers)).statusCode, 200);
  clock.advance(1);
  t.equal((await get('/api/tasks', headers)).statusCode, 401);
  clock.advance(30 * 24 * HOUR);
  const { headers: later } = await signUp(app);
  t.equal((await get('/api/keys', later)).statusCode, 200);
  const [row] = await ctx.db.select().from(apiKeys).where(eq(apiKeys.id, id));
  t.ok(row, 'it stays listed');
});

t.test('A deleted key is 401 at every process from then on', async (t) => {
  const other = await buildApp(ctx);
  t.teardown(() => other.close());
  const { id, headers } = await createKey(app, alice);
  for (const one of [app, other]) t.equal((await one.inject({ url: '/api/tasks', headers })).statusCode, 200);
  await app.inject({ method: 'DELETE', url: `/api/keys/${id}`, headers: alice.headers });
  for (const one of [app, other]) t.equal((await one.inject({ url: '/api/tasks', headers })).statusCode, 401);
});

t.test(
  'The keys of a deactivated account are 401 until it is activated again; the keys of a deleted account no longer exist',
  async (t) => {
    const { headers } = await createKey(app, alice);
    const setActive = (isActive: boolean) =>
      app.inject({ method: 'PATCH', url: `/api/admin/users/${alice.id}`, headers: ada.headers, body: { isActive } });
    t.equal((await setActive(false)).statusCode, 200);
    t.equal((await get('/api/tasks', headers)).statusCode, 401);
    await setActive(true);
    t.equal((await get('/api/tasks', headers)).statusCode, 200);
    await app.inject({ method: 'DELETE', url: `/api/admin/users/${alice.id}`, headers: ada.headers });
    t.equal((await get('/api/tasks', headers)).statusCode, 401);
    t.equal(await ctx.db.$count(apiKeys, eq(apiKeys.userId, alice.id)), 0);
  },
);

t.test('A key needs the role, the admin key and the scope for administration', async (t) => {
  const url = '/api/admin/stats';
  const key = await createKey(app, ada);
  t.equal((await get(url, key.headers)).statusCode, 200);
  const { authorization } = key.headers;
  t.match((await get(url, { authorization })).json(), { message: 'Admin access required' });
  const narrow = await createKey(app, ada, { scopes: ['tasks:read', 'profile:write'] });
  t.match((await get(url, narrow.headers)).json(), { error: 'Missing scope', details: { scope: 'admin' } });

  const eve = await signUp(app, { name: 'Eve', role: 'ADMIN' });
  const kept = await createKey(app, eve);
  t.equal((await get(url, kept.headers)).statusCode, 200);
  await ctx.db.update(users).set({ role: 'USER' }).where(eq(users.id, eve.id));
  t.match((await get(url, kept.headers)).json(), { message: 'Admin access required' }, 'not once the role is lost');
  t.equal((await get('/api/tasks', kept.headers)).statusCode, 200);
});

t.test('No key changes the e-mail address or the password, ends sessions or deletes the account', async (t) => {
  const { headers } = await createKey(app, alice);
  const currentPassword = 'Carillon-2026';
  const email = 'other@example.com';
  const sessions = await get('/api/auth/sessions', alice.headers);
  const [{ id }] = sessions.json().sessions;
  const tries = [
    { method: 'PATCH', url: '/api/user', body: { email, currentPassword } },
    { method: 'PATCH', url: '/api/user', body: { email: alice.email, currentPassword } },
    { method: 'PATCH', url: '/api/user', body: { email, currentPassword: 'a-guess' } },
    { method: 'PATCH', url: '/api/user/settings', body: { email, currentPassword } },
    { method: 'POST', url: '/api/user/password', body: { currentPassword, newPassword: 'Carillon-2027' } },
    { method: 'DELETE', url: '/api/user', body: { currentPassword } },
    { method: 'POST', url: '/api/auth/logout' },
    { method: 'GET', url: '/api/auth/session' },
    { method: 'GET', url: '/api/auth/sessions' },
    { method: 'DELETE', url: `/api/auth/sessions/${id}` },
  ] as const;
  for (const options of tries) {
    const answer = await app.inject({ headers, ...options });
    t.equal(answer.statusCode, 403, `${options.method} ${options.url}`);
    t.match(answer.json(), { success: false, error: 'Session required' });
  }
  t.equal((await get('/api/auth/session', alice.headers)).statusCode, 200);
  const changed = await app.inject({ method: 'PATCH', url: '/api/user', headers, body: { timezone: 'Europe/Lisbon' } });
  t.equal(changed.statusCode, 200, 'the rest of the profile can be changed');
});

t.test('A browser cannot be made to send a key: requests from another site need none', async (t) => {
  const { headers } = await createKey(app, alice);
  const foreign = { ...headers, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
  t.equal((await post('/api/tasks/preview', foreign, { colour: 1 })).statusCode, 400, 'a bearer token is not a cookie');
});

t.test('A key does not count among the ten sessions', async (t) => {
  for (let i = 0; i < 12; i++) await createKey(app, alice);
  const { sessions } = (await get('/api/auth/sessions', alice.headers)).json();
  t.equal(sessions.length, 1);
});

t.test('The log line of a request names the key by its id, and no line has a secret', async (t) => {
  const { id, secret, headers } = await createKey(app, alice);
  logged.length = 0;
  await get('/api/tasks', headers);
  await get(`/api/tasks?token=${secret}`, headers);
  await get('/api/tasks/0', { ...headers, cookie: `x=${secret}` });
  await get('/api/tasks', alice.headers);
  const lines = logged.filter(({ msg, method }) => msg === 'request' && method === 'GET');
  t.match(lines, [
    { route: '/api/tasks', userId: alice.id, keyId: id },
    { route: '/api/tasks', userId: alice.id, keyId: id },
    { route: '/api/tasks/:id', userId: alice.id, keyId: id },
    { route: '/api/tasks', userId: alice.id },
  ]);
  t.notOk('keyId' in (lines.at(-1) ?? {}));
  t.notOk(JSON.stringify(logged).includes(secret.slice(4, 20)));
});
