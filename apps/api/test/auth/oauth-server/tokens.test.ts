import { apiKeys, auditLog, mails, oauthTokens } from '@carillon/db';
import { and, eq, like } from 'drizzle-orm';
import t from 'tap';
import { buildWebActions } from '../../../src/handlers/actions/web/build.ts';
import { hashApiKey } from '../../../src/product/auth/tokens.ts';
import { toPruneBatch } from '../../../src/product/retention/policies.ts';
import { testContext } from '../../support/context.ts';
import { createKey } from '../../support/keys.ts';
import { allow, ask, CLAUDE, connectProgram, exchange, postForm, refresh } from '../../support/oauth-client.ts';
import { PASSWORD, type Person, signUp, signUpAda } from '../../support/people.ts';

const BASE_URL = 'https://carillon.example.com';
const { app, ctx, clock } = await testContext(t, { env: { BASE_URL, DASHBOARD: 'true' } });
const CURSOR = {
  id: 'https://cursor.com/oauth/mcp-client.json',
  redirect: 'cursor://anysphere.cursor-mcp/oauth/callback',
};
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

const status = async (token: string) => (await ask(app, token)).statusCode;
const listApps = async ({ headers }: Pick<Person, 'headers'>) =>
  (await app.inject({ url: '/api/user/apps', headers })).json().apps;

t.test('A code and tokens are stored as hashes, with instants of expiry in columns', async (t) => {
  const alice = await signUp(app);
  const allowed = await allow(app, alice, CLAUDE);
  const [code] = await ctx.db.select().from(oauthTokens).where(eq(oauthTokens.userId, alice.id));
  t.match(code, { kind: 'code', tokenHash: hashApiKey(allowed.code), keyId: null, consumedAt: null });
  t.equal(code?.expiresAt.getTime(), ctx.now().getTime() + 5 * MINUTE_MS);
  const tokens = (await exchange(app, CLAUDE, allowed)).json();
  const rows = await ctx.db.select().from(oauthTokens).where(eq(oauthTokens.userId, alice.id));
  const expiries = rows.map(({ kind, expiresAt }) => [kind, expiresAt.getTime() - ctx.now().getTime()]);
  t.same(expiries.sort(), [
    ['access', DAY_MS],
    ['code', 5 * MINUTE_MS],
    ['refresh', 90 * DAY_MS],
  ]);
  const stored = JSON.stringify(rows);
  for (const secret of [allowed.code, tokens.access_token, tokens.refresh_token]) t.notOk(stored.includes(secret));
});

t.test('A code is good for five minutes, and once: its second use ends the tokens', async (t) => {
  const alice = await signUp(app);
  const late = await allow(app, alice, CLAUDE);
  clock.advance(5 * MINUTE_MS);
  t.match((await exchange(app, CLAUDE, late)).json(), { error: 'invalid_grant' }, 'late');
  t.same(await listApps(alice), []);
  const allowed = await allow(app, alice, CLAUDE);
  const { access_token: token, refresh_token: next } = (await exchange(app, CLAUDE, allowed)).json();
  t.equal(await status(token), 200);
  const again = await exchange(app, CLAUDE, allowed);
  t.equal(again.statusCode, 400);
  t.match(again.json(), { error: 'invalid_grant' });
  t.equal(await status(token), 401);
  t.equal((await refresh(app, CLAUDE, next)).statusCode, 400);
  t.same(await listApps(alice), []);
});

t.test('Access tokens live 24 hours, refresh tokens 90 days from the last use', async (t) => {
  const alice = await signUp(app);
  let tokens = await connectProgram(app, alice);
  clock.advance(DAY_MS - 1);
  t.equal(await status(tokens.access_token), 200);
  clock.advance(1);
  const expired = await ask(app, tokens.access_token);
  t.equal(expired.statusCode, 401);
  t.match(expired.headers['www-authenticate'], /error="invalid_token".*resource_metadata=.*scope="tasks:read/);
  for (let times = 0; times < 3; times++) {
    clock.advance(88 * DAY_MS);
    const answer = await refresh(app, CLAUDE, tokens.refresh_token);
    t.equal(answer.statusCode, 200, answer.body);
    tokens = answer.json();
  }
  t.equal(await status(tokens.access_token), 200);
  clock.advance(90 * DAY_MS);
  t.match((await refresh(app, CLAUDE, tokens.refresh_token)).json(), { error: 'invalid_grant' });
});

t.test('A replaced refresh token gives new pairs for a minute, and ends the connection after it', async (t) => {
  const alice = await signUp(app);
  const first = await connectProgram(app, alice);
  const second = (await refresh(app, CLAUDE, first.refresh_token)).json();
  clock.advance(59_000);
  const third = (await refresh(app, CLAUDE, first.refresh_token)).json();
  for (const { access_token: token } of [first, second, third]) t.equal(await status(token), 200);
  clock.advance(1000);
  const reused = await refresh(app, CLAUDE, first.refresh_token);
  t.match(reused.json(), { error: 'invalid_grant' });
  for (const { access_token: token } of [first, second, third]) t.equal(await status(token), 401);
  t.equal((await refresh(app, CLAUDE, third.refresh_token)).statusCode, 400);
  t.same(await listApps(alice), []);
});

t.test(
  'Disconnecting, ending other sessions, a new password and deactivation end it, and signing out does not',
  async (t) => {
    const ada = await signUpAda(app);
    const ways: [string, isEnded: boolean, (person: Person) => Promise<unknown>][] = [
      ['sign-out', false, ({ headers }) => app.inject({ method: 'POST', url: '/api/auth/logout', headers })],
      [
        'disconnected',
        true,
        async (person) => {
          const [{ id }] = await listApps(person);
          return app.inject({ method: 'DELETE', url: `/api/user/apps/${id}`, headers: person.headers });
        },
      ],
      ['other sessions', true, ({ token }) => buildWebActions(ctx).endOtherSessions(token, {})],
      [
        'password',
        true,
        ({ headers }) =>
          app.inject({
            method: 'POST',
            url: '/api/user/password',
            headers,
            payload: { currentPassword: PASSWORD, newPassword: 'Another-2026-password' },
          }),
      ],
      [
        'deactivated',
        true,
        ({ id }) =>
          app.inject({
            method: 'PATCH',
            url: `/api/admin/users/${id}`,
            headers: ada.headers,
            payload: { isActive: false },
          }),
      ],
    ];
    for (const [name, isEnded, act] of ways) {
      const person = await signUp(app);
      const { access_token: token, refresh_token: next } = await connectProgram(app, person);
      const pending = await allow(app, person, CURSOR);
      await act(person);
      t.equal(await status(token), isEnded ? 401 : 200, name);
      t.equal((await refresh(app, CLAUDE, next)).statusCode, isEnded ? 400 : 200, name);
      const codeLives = !isEnded || name === 'disconnected';
      t.equal((await exchange(app, CURSOR, pending)).statusCode, codeLives ? 200 : 400, `${name}, a code`);
    }
  },
);

t.test('A program revokes its own tokens, and nobody else’s', async (t) => {
  const alice = await signUp(app);
  const tokens = await connectProgram(app, alice);
  const others = await postForm(app, '/oauth/revoke', { client_id: CURSOR.id, token: tokens.refresh_token });
  t.equal(others.statusCode, 200);
  t.equal(await status(tokens.access_token), 200);
  const own = await postForm(app, '/oauth/revoke', { client_id: CLAUDE.id, token: tokens.refresh_token });
  t.equal(own.statusCode, 200);
  t.equal(await status(tokens.access_token), 401);
  t.same(await listApps(alice), []);
  t.equal((await postForm(app, '/oauth/revoke', { client_id: CLAUDE.id, token: 'unknown' })).statusCode, 200);
});

t.test('The same program replaces its connection', async (t) => {
  const alice = await signUp(app);
  const first = await connectProgram(app, alice);
  const second = await connectProgram(app, alice, CLAUDE, { scope: 'tasks:read', preset: 'look' });
  t.equal(await status(first.access_token), 401);
  t.equal((await refresh(app, CLAUDE, first.refresh_token)).statusCode, 400);
  t.equal(await status(second.access_token), 200);
  t.match(await listApps(alice), [{ name: 'Claude', host: 'claude.ai', scopes: ['tasks:read'] }]);
  const sent = await ctx.db.select({ subject: mails.subject }).from(mails).where(eq(mails.recipient, alice.email));
  t.same(sent, [{ subject: 'An app was connected' }], 'the owner is told once');
});

t.test('50 programs can be connected, beside the 25 keys', async (t) => {
  const alice = await signUp(app);
  await ctx.db.insert(apiKeys).values(
    Array.from({ length: 49 }, (_, at) => ({
      ...{ id: crypto.randomUUID(), userId: alice.id, name: `Program ${at}`, prefix: '', scopes: ['tasks:read'] },
      ...{ clientId: `https://example.com/${at}`, clientHost: 'example.com', createdAt: ctx.now() },
    })),
  );
  const pending = await allow(app, alice, CURSOR);
  const { access_token: token } = await connectProgram(app, alice);
  const refused = await exchange(app, CURSOR, pending);
  t.equal(refused.statusCode, 402, 'at the exchange');
  await t.rejects(allow(app, alice, CURSOR), /QUOTA_EXCEEDED/, 'on the page');
  t.equal(await status(token), 200);
  t.equal(await status((await connectProgram(app, alice)).access_token), 200, 'the same again');
  for (let keys = 0; keys < 25; keys++) await createKey(app, alice);
  const listed = await app.inject({ url: '/api/keys?limit=100', headers: alice.headers });
  t.equal(listed.json().keys.length, 25);
  const page = (await app.inject({ url: '/api/user/apps?limit=20', headers: alice.headers })).json();
  t.equal(page.apps.length, 20);
  t.match(page.pagination, { limit: 20, hasMore: true, nextCursor: String });
  const cursor = page.pagination.nextCursor;
  const rest = (await app.inject({ url: `/api/user/apps?limit=100&cursor=${cursor}`, headers: alice.headers })).json();
  t.equal(new Set([...page.apps, ...rest.apps].map(({ id }) => id)).size, 50);
});

t.test('Connected apps are their user’s, and for sessions only', async (t) => {
  const [alice, bob] = [await signUp(app), await signUp(app)];
  await connectProgram(app, alice);
  const [connected] = await listApps(alice);
  t.same(Object.keys(connected).sort(), ['createdAt', 'host', 'id', 'lastUsedAt', 'name', 'scopes']);
  const { headers } = await createKey(app, alice);
  const remove = (to: Pick<Person, 'headers'>) =>
    app.inject({ method: 'DELETE', url: `/api/user/apps/${connected.id}`, headers: to.headers });
  t.equal((await app.inject({ url: '/api/user/apps', headers })).statusCode, 403);
  t.equal((await remove({ headers })).statusCode, 403);
  t.equal((await remove(bob)).statusCode, 404);
  t.equal(
    (await app.inject({ method: 'DELETE', url: `/api/keys/${connected.id}`, headers: alice.headers })).statusCode,
    404,
  );
  t.same((await remove(alice)).json(), { success: true, message: 'The app is disconnected.' });
  t.equal((await remove(alice)).statusCode, 404);
});

t.test('Use counts as that of keys does, and connections are in the audit log', async (t) => {
  const alice = await signUp(app);
  const { access_token: token } = await connectProgram(app, alice);
  await ask(app, token);
  await ctx.apiKeyUse.flush();
  const [connected] = await listApps(alice);
  t.equal(connected.lastUsedAt, ctx.now().toISOString());
  await app.inject({ method: 'DELETE', url: `/api/user/apps/${connected.id}`, headers: alice.headers });
  const entries = await ctx.db
    .select({ kind: auditLog.kind, details: auditLog.details, actorId: auditLog.actorId })
    .from(auditLog)
    .where(and(eq(auditLog.userId, alice.id), like(auditLog.kind, 'app.%')))
    .orderBy(auditLog.id);
  const about = { appId: connected.id, name: 'Claude', host: 'claude.ai' };
  t.match(entries, [
    { kind: 'app.connected', details: { ...about, scopes: connected.scopes } },
    { kind: 'app.disconnected', details: about, actorId: alice.id },
  ]);
});

t.test('A missing scope is 403 with its name for a connection, and the error of a tool for a key', async (t) => {
  const alice = await signUp(app);
  const call = (name: string) => ({
    ...{ jsonrpc: '2.0', id: 7, method: 'tools/call' },
    params: { name, arguments: { prompt: 'Say hello', name: 'Greeting', schedule: 'tomorrow at 9' } },
  });
  const { access_token: token } = await connectProgram(app, alice, CLAUDE, { scope: 'tasks:read' });
  const refused = await ask(app, token, call('create_task'));
  t.equal(refused.statusCode, 403);
  t.match(
    refused.headers['www-authenticate'],
    /^Bearer error="insufficient_scope", scope="tasks:write", resource_metadata="https:\/\/carillon\.example\.com\//,
  );
  t.equal((await ask(app, token, call('list_tasks'))).statusCode, 200);
  const { secret } = await createKey(app, alice, { scopes: ['tasks:read'] });
  const answered = await ask(app, secret, call('create_task'));
  t.equal(answered.statusCode, 200);
  t.match(answered.body, /does not have the scope tasks:write/);
});

t.test('A program may ask for a token with fewer scopes than it has', async (t) => {
  const alice = await signUp(app);
  const tokens = await connectProgram(app, alice, CLAUDE, { scope: 'tasks:read tasks:write' });
  const fields = { grant_type: 'refresh_token', client_id: CLAUDE.id, refresh_token: tokens.refresh_token };
  const narrow = (await postForm(app, '/oauth/token', { ...fields, scope: 'tasks:read' })).json();
  t.equal(narrow.scope, 'tasks:read');
  const body = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'create_task', arguments: {} } };
  t.equal((await ask(app, narrow.access_token, body)).statusCode, 403);
  const wide = await postForm(app, '/oauth/token', {
    ...{ ...fields, refresh_token: narrow.refresh_token },
    scope: 'tasks:read usage:read',
  });
  t.match(wide.json(), { error: 'invalid_scope' });
});

t.test('Expired tokens, and programs without a connection, are pruned', async (t) => {
  clock.advance(400 * DAY_MS);
  const alice = await signUp(app);
  await connectProgram(app, alice);
  await toPruneBatch(ctx, 'assistant tokens')(ctx, null);
  await toPruneBatch(ctx, 'assistant programs')(ctx, null);
  const left = await ctx.db.select({ userId: oauthTokens.userId }).from(oauthTokens);
  t.ok(left.every(({ userId }) => userId === alice.id));
  t.equal(left.length, 3);
});
