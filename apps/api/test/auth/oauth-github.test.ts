import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { testContext } from '../support/context.ts';

/** Answers like github.com and api.github.com: a token for a code, the account, its addresses. */
const seen: Record<string, string> = {};
let verified = true;
let status = 200;
const github = createServer(async (request, response) => {
  const body = Buffer.concat(await request.toArray()).toString();
  const answer = (value: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  if (request.url === '/login/oauth/access_token') {
    Object.assign(seen, Object.fromEntries(new URLSearchParams(body)));
    return answer({ access_token: 'gho_test', token_type: 'bearer', scope: 'read:user,user:email' });
  }
  seen.authorization = request.headers.authorization ?? '';
  if (request.url === '/user') return answer({ id: 583_231, login: 'octocat', name: null });
  return answer([
    { email: 'other@example.com', primary: false, verified: true },
    { email: 'octocat@example.com', primary: true, verified },
  ]);
});
await new Promise<void>((resolve) => github.listen(0, '127.0.0.1', resolve));
t.teardown(() => github.close());
const url = `http://127.0.0.1:${(github.address() as AddressInfo).port}`;

const { app } = await testContext(t, {
  env: {
    OAUTH_GITHUB_CLIENT_ID: 'id',
    OAUTH_GITHUB_CLIENT_SECRET: 'secret-of-github',
    OAUTH_GITHUB_URL: url,
    OAUTH_GITHUB_API_URL: url,
  },
});

async function signIn() {
  const started = await app.inject('/api/auth/oauth/github');
  const { searchParams } = new URL(String(started.headers.location));
  const flow = String(started.headers['set-cookie']).split(';')[0];
  const state = searchParams.get('state');
  return app.inject({
    url: `/api/auth/oauth/github/callback?code=abc&state=${state}`,
    headers: { cookie: String(flow) },
  });
}

t.test('The primary address is used if GitHub has verified it, with PKCE and the bearer token', async (t) => {
  const answer = await signIn();
  t.equal(answer.statusCode, 302, answer.body);
  t.match(seen, { code: 'abc', client_id: 'id', client_secret: 'secret-of-github', authorization: 'Bearer gho_test' });
  t.match(seen.code_verifier, /^[\w-]{43}$/);
  const cookie = [answer.headers['set-cookie']].flat().find((line) => line?.startsWith('local-session='));
  const session = await app.inject({ url: '/api/auth/session', headers: { cookie: String(cookie).split(';')[0] } });
  t.match(session.json().user, { email: 'octocat@example.com', name: 'octocat' });
});

t.test('An error of GitHub is 503, an unverified primary address 403', async (t) => {
  status = 502;
  t.equal((await signIn()).statusCode, 503);
  status = 200;
  t.equal((await signIn()).statusCode, 302, 'known by the identifier');
});

t.test('An unverified primary address makes no account', async (t) => {
  verified = false;
  const { app: other } = await testContext(t, {
    env: {
      OAUTH_GITHUB_CLIENT_ID: 'id',
      OAUTH_GITHUB_CLIENT_SECRET: 'secret-of-github',
      OAUTH_GITHUB_URL: url,
      OAUTH_GITHUB_API_URL: url,
    },
  });
  const started = await other.inject('/api/auth/oauth/github');
  const state = new URL(String(started.headers.location)).searchParams.get('state');
  const cookie = String(started.headers['set-cookie']).split(';')[0];
  const answer = await other.inject({
    url: `/api/auth/oauth/github/callback?code=abc&state=${state}`,
    headers: { cookie: String(cookie) },
  });
  t.equal(answer.statusCode, 403);
});
