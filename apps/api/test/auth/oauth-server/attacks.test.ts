import { apiKeys, oauthTokens, queryRows } from '@carillon/db';
import { eq, sql } from 'drizzle-orm';
import t from 'tap';
import { visit } from '../../../../web/test/support/visitor.ts';
import { endUserSessions } from '../../../src/product/auth/sessions.ts';
import { inTransaction } from '../../../src/transaction.ts';
import { testContext } from '../../support/context.ts';
import { addTotp } from '../../support/factors.ts';
import {
  allow,
  answer,
  ask,
  buildRequest,
  CLAUDE,
  connectProgram,
  exchange,
  postForm,
  refresh,
} from '../../support/oauth-client.ts';
import { type Person, signUp } from '../../support/people.ts';
import { until } from '../../support/until.ts';

/*
 * Attacks of RFC 9700 (section) and RFC 6819 that apply to a server of public programs. Elsewhere: codes and tokens that are used
 * again (4.5, 4.14: tokens.test.ts, oauth-races.test.ts), addresses that are alike (4.1: clients.test.ts), requests that the server is
 * made to send, and floods of registrations (clients.test.ts), framing (4.16: every-page.test.ts).
 */
const BASE_URL = 'https://carillon.example.com';
const { app, ctx, clock } = await testContext(t, { env: { BASE_URL, DASHBOARD: 'true' } });
const CODE = { id: 'https://claude.ai/oauth/claude-code-client-metadata', redirect: 'http://localhost:1234/callback' };
const invalidGrant = { error: 'invalid_grant' };

const isRefused = async (person: Person, changes: Record<string, string | null>, scope?: string) => {
  const { search } = buildRequest(CLAUDE, { changes, ...(scope !== undefined && { scope }) });
  const result = await answer(app, person, search);
  if (!result.success || result.data.kind !== 'refused') throw new Error(JSON.stringify(result));
  if (result.data.to === null) return null;
  // Answers to a request for a token are in the fragment.
  const { searchParams, hash } = new URL(result.data.to);
  return Object.fromEntries([...searchParams, ...new URLSearchParams(hash.slice(1))]);
};

t.test('4.4 Mix-up: every answer names the server, refusals too', async (t) => {
  const alice = await signUp(app);
  t.equal((await allow(app, alice, CLAUDE)).to.searchParams.get('iss'), BASE_URL);
  const { search } = buildRequest(CLAUDE);
  const refused = await answer(app, alice, search, { preset: null });
  if (!refused.success || refused.data.kind !== 'answered') return t.fail(JSON.stringify(refused));
  t.match(Object.fromEntries(new URL(refused.data.to).searchParams), { iss: BASE_URL, error: 'access_denied' });
  t.match(await isRefused(alice, { response_type: 'token' }), { iss: BASE_URL, error: 'unsupported_response_type' });
});

t.test('4.5 Injected codes: a code needs its program, its address and its verifier', async (t) => {
  const alice = await signUp(app);
  const allowed = await allow(app, alice, CLAUDE);
  const other = await allow(app, alice, CLAUDE);
  t.match((await exchange(app, CODE, allowed)).json(), invalidGrant, 'another program');
  t.match((await exchange(app, CLAUDE, { ...allowed, verifier: other.verifier })).json(), invalidGrant);
  const claude = { ...CLAUDE, redirect: 'https://claude.com/api/mcp/auth_callback' };
  t.match((await exchange(app, claude, allowed)).json(), invalidGrant, 'another address');
  t.match((await exchange(app, CLAUDE, { ...allowed, verifier: '' })).json(), { error: /invalid_/ });
  t.equal((await exchange(app, CLAUDE, allowed)).statusCode, 200, 'the program itself');
});

t.test('4.8 Downgrade: no code without a challenge by SHA-256', async (t) => {
  const alice = await signUp(app);
  const error = 'invalid_request';
  t.match(await isRefused(alice, { code_challenge: null, code_challenge_method: null }), { error });
  t.match(await isRefused(alice, { code_challenge_method: 'plain' }), { error });
  t.match(await isRefused(alice, { code_challenge_method: null }), { error });
  t.match(await isRefused(alice, { code_challenge: 'short' }), { error });
  for (const response_type of ['token', 'id_token', 'code token', 'none']) {
    t.match(await isRefused(alice, { response_type }), { error: /unsupported_response_type|invalid_request/ });
  }
  t.notOk((await ctx.db.select().from(apiKeys).where(eq(apiKeys.userId, alice.id))).length);
});

t.test('4.11 Open redirects: a wrong request leads nowhere by itself', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const page = await visitor.open(
    `/oauth/authorize?${buildRequest(CLAUDE, { changes: { code_challenge: null } }).search}`,
  );
  t.equal(page.status, 400);
  t.notOk(page.response.headers.location);
  t.notOk(page.response.headers.refresh);
  const repeated = `${buildRequest(CLAUDE).search}&redirect_uri=${encodeURIComponent('https://evil.example/')}`;
  const twice = await visitor.open(`/oauth/authorize?${repeated}`);
  t.equal(twice.status, 400);
  t.notMatch(twice.response.body, /href="https:\/\/evil/);
});

t.test('4.7 Forged consent: an answer needs the form of the page, the own origin and the session', async (t) => {
  const alice = await signUp(app);
  const { search } = buildRequest(CLAUDE);
  const send = (headers: Record<string, string>, payload: string) =>
    app.inject({
      ...{ method: 'POST', url: `/oauth/authorize?${search}`, payload },
      headers: {
        ...{ host: 'localhost:3000', accept: 'text/html', cookie: `local-session=${alice.token}` },
        ...{ 'content-type': 'application/x-www-form-urlencoded', ...headers },
      },
    });
  const own = { origin: BASE_URL, 'sec-fetch-site': 'same-origin' };
  const others: Record<string, string>[] = [
    own,
    { origin: 'https://evil.example' },
    { 'sec-fetch-site': 'cross-site' },
  ];
  for (const headers of others) {
    const forged = await send(headers, 'answer=allow&preset=everything');
    t.equal(forged.statusCode, 403);
    t.notOk(forged.headers.refresh);
  }
  const got = await app.inject({
    url: `/oauth/authorize?${search}&answer=allow&preset=everything`,
    headers: { accept: 'text/html', cookie: `local-session=${alice.token}` },
  });
  t.notOk(got.headers.refresh, 'a link is no answer');
  t.equal((await ctx.db.select().from(apiKeys).where(eq(apiKeys.userId, alice.id))).length, 0);
});

t.test('4.3 Tokens in addresses: none is read from a query, and none is sent in one', async (t) => {
  const alice = await signUp(app);
  const { access_token: token } = await connectProgram(app, alice);
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  t.equal((await app.inject({ method: 'POST', url: `/mcp?access_token=${token}`, payload: ping })).statusCode, 401);
  const { code, verifier } = await allow(app, alice, CLAUDE);
  const query = new URLSearchParams({
    ...{ grant_type: 'authorization_code', client_id: CLAUDE.id, redirect_uri: CLAUDE.redirect },
    ...{ code, code_verifier: verifier },
  });
  t.equal((await app.inject({ method: 'GET', url: `/oauth/token?${query}` })).statusCode, 404);
  t.equal((await app.inject({ method: 'POST', url: `/oauth/token?${query}` })).statusCode, 400);
  const answered = await exchange(app, CLAUDE, { code, verifier });
  t.equal(answered.headers['cache-control'], 'no-store');
});

t.test('4.9 Another audience: a token is good for /mcp only, and asked for no other resource', async (t) => {
  const alice = await signUp(app);
  const { access_token: token } = await connectProgram(app, alice);
  const headers = { authorization: `Bearer ${token}` };
  for (const url of ['/api/tasks', '/api/user', '/api/auth/session', '/api/user/apps', '/api/keys']) {
    t.equal((await app.inject({ url, headers })).statusCode, 401, url);
  }
  for (const resource of ['https://other.example/mcp', BASE_URL, `${BASE_URL}/mcp/`, `${BASE_URL}/mcp#a`, 'mcp']) {
    t.match(await isRefused(alice, { resource }), { error: 'invalid_target' }, resource);
  }
  const good = await allow(app, alice, CLAUDE, { changes: { resource: `${BASE_URL}/mcp` } });
  const fields = {
    ...{ grant_type: 'authorization_code', client_id: CLAUDE.id, redirect_uri: CLAUDE.redirect },
    ...{ code: good.code, code_verifier: good.verifier },
  };
  const other = await postForm(app, '/oauth/token', { ...fields, resource: 'https://other.example/mcp' });
  t.match(other.json(), { error: 'invalid_target' });
  const own = await allow(app, alice, CLAUDE, { changes: { resource: `${BASE_URL}/mcp` } });
  const exchanged = await postForm(app, '/oauth/token', {
    ...{ ...fields, code: own.code, code_verifier: own.verifier },
    resource: `${BASE_URL}/mcp`,
  });
  t.equal(exchanged.statusCode, 200, exchanged.body);
});

t.test('4.13 A confused deputy: keys, sessions, codes and refresh tokens are no access tokens', async (t) => {
  const alice = await signUp(app);
  const allowed = await allow(app, alice, CLAUDE);
  const tokens = (await exchange(app, CLAUDE, allowed)).json();
  for (const token of [allowed.code, tokens.refresh_token, alice.token, 'a'.repeat(43)]) {
    t.equal((await ask(app, token)).statusCode, 401);
  }
  t.match((await refresh(app, CLAUDE, tokens.access_token)).json(), invalidGrant);
  t.match((await refresh(app, CODE, tokens.refresh_token)).json(), invalidGrant, 'of another program');
  t.equal((await ask(app, tokens.access_token)).statusCode, 200);
});

t.test('Wider scopes: nobody gets admin, more than was asked for, or more than the choice', async (t) => {
  const alice = await signUp(app, { role: 'ADMIN' });
  const scopesOf = async (scope: string | undefined, preset: 'look' | 'run' | 'everything') =>
    (await connectProgram(app, alice, CLAUDE, { preset, ...(scope !== undefined && { scope }) })).scope
      .split(' ')
      .sort();
  const look = ['executions:read', 'tasks:read', 'usage:read'];
  t.same(await scopesOf(undefined, 'look'), look);
  t.same(await scopesOf(undefined, 'run'), [...look, 'executions:run', 'tasks:write'].sort());
  const all = await scopesOf(undefined, 'everything');
  t.equal(all.length, 12);
  t.notOk(all.includes('admin') || all.includes('profile:write'));
  t.same(await scopesOf('tasks:read admin openid email offline_access', 'everything'), ['tasks:read']);
  t.same(await scopesOf('tasks:read profile:write', 'everything'), ['profile:write', 'tasks:read']);
  t.same(await scopesOf('tasks:read agent:run', 'run'), ['tasks:read']);
  t.same(await scopesOf('openid email', 'everything'), all, 'it asks for nothing of ours');
  t.match(await isRefused(alice, {}, 'admin'), { error: 'invalid_scope' });
});

t.test('4.1 Impersonated programs: what signs in is what was registered, and its host is shown', async (t) => {
  const payload = { client_name: 'Claude', redirect_uris: ['https://evil.example/callback'] };
  const { client_id: id } = (await app.inject({ method: 'POST', url: '/oauth/register', payload })).json();
  const page = await visit(app, await signUp(app)).open(
    `/oauth/authorize?${buildRequest({ id, redirect: 'https://evil.example/callback' }).search}`,
  );
  t.match(page.text, /Where you go next\s*evil\.example/);
  const [, content = '', signature = ''] = /^dcr_(.*)\.(.*)$/.exec(id) ?? [];
  const changed = Buffer.from(JSON.stringify(['Claude', 'https://evil.example/other'])).toString('base64url');
  for (const forged of [`dcr_${changed}.${signature}`, `dcr_${content}.${'a'.repeat(43)}`, `dcr_${content}.`]) {
    const { search } = buildRequest({ id: forged, redirect: 'https://evil.example/other' });
    const result = await answer(app, await signUp(app), search);
    t.match(result, { data: { kind: 'refused', reason: 'client' } });
  }
});

t.test('A stolen session connects nothing without the second factor', async (t) => {
  const alice = await signUp(app);
  await addTotp(app, alice, ctx.now());
  clock.advance(16 * 60_000);
  const { search } = buildRequest(CLAUDE);
  const refused = await answer(app, alice, search, { currentPassword: 'Carillon-2026' });
  t.match(refused, { success: false, code: 'CONFIRMATION_REQUIRED' });
  const page = await visit(app, alice).open(`/oauth/authorize?${search}`);
  t.match(page.url, /^\/settings\/confirm\?next=%2Foauth%2Fauthorize%3F/);
});

t.test('An answer that waits for the end of its session gets no code', async (t) => {
  const alice = await signUp(app);
  const { search } = buildRequest(CLAUDE);
  const isWaiting = async () => (await queryRows(ctx.db, sql`select from pg_locks where not granted`)).length > 0;
  let answering = Promise.resolve<unknown>(null);
  await inTransaction(ctx, async (tx) => {
    await endUserSessions(tx, alice.id);
    answering = answer(app, alice, search);
    await until(isWaiting);
  });
  t.match(await answering, { success: false, code: 'AUTH_REQUIRED' });
  t.equal(await ctx.db.$count(oauthTokens, eq(oauthTokens.userId, alice.id)), 0);
});

t.test('Hostile values neither break the page nor its headers', async (t) => {
  const alice = await signUp(app);
  const visitor = visit(app, alice);
  const state = '"><script>alert(1)</script>\r\nset-cookie: a=b';
  const { search } = buildRequest(CLAUDE, { changes: { state } });
  const page = await visitor.open(`/oauth/authorize?${search}`);
  t.notMatch(page.response.body, '<script>alert');
  const done = await visitor.submit(page, 'Connect');
  const to = new URL(String(done.response.headers.refresh).slice('0;url='.length));
  t.equal(to.searchParams.get('state'), state);
  t.equal(to.origin, 'https://claude.ai');
  for (const one of [
    '',
    '?',
    '?client_id=',
    '?client_id=a&client_id=b',
    `?client_id=${'a'.repeat(3000)}`,
    '?client_id=%00',
  ]) {
    t.equal((await visitor.open(`/oauth/authorize${one}`)).status, 400, one.slice(0, 40));
  }
  for (const payload of [
    '',
    'a=b',
    'grant_type=password',
    'grant_type=client_credentials&client_id=a',
    '%ff=%00',
    '[]',
  ]) {
    const answered = await app.inject({
      ...{ method: 'POST', url: '/oauth/token', payload },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    t.match(answered.statusCode, /^40[01]$/, payload);
    t.match(answered.json(), { error: String });
  }
  const json = await app.inject({ method: 'POST', url: '/oauth/token', payload: { grant_type: 'refresh_token' } });
  t.match(json.json(), { error: 'invalid_request' });
});
