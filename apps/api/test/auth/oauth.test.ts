import { emailChanges, settings, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { addTotp, post } from '../support/factors.ts';
import { createKey } from '../support/keys.ts';
import { signUp } from '../support/people.ts';
import { followRedirects, type IssuerUser, startIssuer } from '../support/servers/oidc-issuer.ts';

const BASE_URL = 'http://carillon.test';
const CALLBACK = `${BASE_URL}/api/auth/oauth/oidc/callback`;
const ALICE: IssuerUser = { sub: 'alice-at-issuer', email: 'Alice@Example.com', email_verified: true, name: 'Alice' };

const issuer = await startIssuer('carillon', 'secret-of-carillon', CALLBACK);
t.teardown(() => issuer.close());
const { app, ctx, clock } = await testContext(t, {
  env: {
    BASE_URL,
    APP_URL: 'http://app.test',
    OAUTH_OIDC_ISSUER: issuer.url,
    OAUTH_OIDC_CLIENT_ID: 'carillon',
    OAUTH_OIDC_CLIENT_SECRET: 'secret-of-carillon',
  },
});

const cookieOf = (headers: Record<string, unknown>, name: string) =>
  [headers['set-cookie'] ?? []]
    .flat()
    .map((line) => new RegExp(`^${name}=([^;]*)`).exec(String(line))?.[1])
    .find((value) => value !== undefined);

async function begin(query = '') {
  const started = await app.inject(`/api/auth/oauth/oidc${query}`);
  const flow = cookieOf(started.headers, 'oauth-flow') ?? '';
  const back = await followRedirects(String(started.headers.location), issuer.url);
  return { flow, path: back.pathname + back.search };
}

const finish = ({ flow, path }: { flow: string; path: string }) =>
  app.inject({ url: path, headers: flow ? { cookie: `oauth-flow=${flow}` } : {} });

async function signInAs(person: IssuerUser) {
  issuer.setPerson(person);
  return finish(await begin());
}

const sessionUser = async (headers: Record<string, unknown>) => {
  const cookie = `local-session=${cookieOf(headers, 'local-session')}`;
  return (await app.inject({ url: '/api/auth/session', headers: { cookie } })).json().user;
};

t.test('A person with a verified address gets an account, and the same one the next time', async (t) => {
  const first = await signInAs(ALICE);
  t.equal(first.statusCode, 302, first.body);
  t.equal(first.headers.location, 'http://app.test');
  const user = await sessionUser(first.headers);
  t.match(user, { email: 'alice@example.com', name: 'Alice', role: 'USER' });

  const renamed = await signInAs({ ...ALICE, email: 'new@example.com', email_verified: false });
  t.equal(renamed.statusCode, 302, 'known by the identifier, although the address has changed');
  t.equal((await sessionUser(renamed.headers)).id, user.id);
});

t.test(
  'The authorization request has PKCE, state and nonce, and the flow cookie is encrypted and short-lived',
  async (t) => {
    const { headers } = await app.inject('/api/auth/oauth/oidc');
    const { searchParams } = new URL(String(headers.location));
    t.equal(searchParams.get('code_challenge_method'), 'S256');
    t.match(searchParams.get('code_challenge'), /^[\w-]{43}$/);
    t.match(searchParams.get('state'), /^[\w-]{43}$/);
    t.match(searchParams.get('nonce'), /^[\w-]{43}$/);
    t.equal(searchParams.get('redirect_uri'), CALLBACK);
    t.match(headers['set-cookie'], /; Max-Age=600; Path=\/api\/auth\/oauth; HttpOnly; Secure; SameSite=Lax$/);
    t.notMatch(headers['set-cookie'], new RegExp(String(searchParams.get('state'))));
  },
);

t.test('A browser whose sign-in fails is sent to the sign-in page, which says why', async (t) => {
  const headers = { accept: 'text/html' };
  issuer.setPerson({ ...ALICE, sub: 'unverified', email: 'unverified@example.com', email_verified: false });
  const { flow, path } = await begin();
  const unverified = await app.inject({ url: path, headers: { ...headers, cookie: `oauth-flow=${flow}` } });
  t.equal(unverified.statusCode, 302);
  t.equal(unverified.headers.location, 'http://app.test/sign-in?error=unverified');
  const foreign = await app.inject({ url: path, headers });
  t.equal(foreign.headers.location, 'http://app.test/sign-in?error=failed');
  t.equal((await app.inject({ url: '/api/auth/oauth/unknown', headers })).statusCode, 404);
});

t.test('An unverified address neither links nor makes an account', async (t) => {
  const bob = await signUp(app, { name: 'Bob', email: 'bob@example.com' });
  for (const email of ['bob@example.com', 'nobody@example.com']) {
    const answer = await signInAs({ sub: `claims-${email}`, email, email_verified: false });
    t.equal(answer.statusCode, 403);
    t.equal(cookieOf(answer.headers, 'local-session'), undefined);
  }
  t.equal((await app.inject({ url: '/api/auth/session', headers: bob.headers })).statusCode, 200);
  t.equal(await ctx.db.$count(users, eq(users.email, 'nobody@example.com')), 0);
});

t.test('A link removes an unconfirmed password, its sessions and API keys, and keeps a confirmed one', async (t) => {
  const carol = await signUp(app, { name: 'Carol', email: 'carol@example.com' });
  const ofCarol = await createKey(app, carol);
  const linked = await signInAs({ sub: 'carol-at-issuer', email: 'carol@example.com', email_verified: true });
  t.equal((await sessionUser(linked.headers)).id, carol.id);
  t.equal((await app.inject({ url: '/api/auth/session', headers: carol.headers })).statusCode, 401);
  t.equal((await app.inject({ url: '/api/tasks', headers: ofCarol.headers })).statusCode, 401);
  const [row] = await ctx.db.select().from(users).where(eq(users.id, carol.id));
  t.equal(row?.passwordHash, null);

  const dave = await signUp(app, { name: 'Dave', email: 'dave@example.com' });
  const ofDave = await createKey(app, dave);
  await ctx.db.update(users).set({ emailVerifiedAt: ctx.now(), passwordHash: 'kept' }).where(eq(users.id, dave.id));
  t.equal((await signInAs({ sub: 'dave-at-issuer', email: 'dave@example.com', email_verified: true })).statusCode, 302);
  const [kept] = await ctx.db.select().from(users).where(eq(users.id, dave.id));
  t.equal(kept?.passwordHash, 'kept');
  t.equal((await app.inject({ url: '/api/auth/session', headers: dave.headers })).statusCode, 200);
  t.equal((await app.inject({ url: '/api/tasks', headers: ofDave.headers })).statusCode, 200);
});

t.test('The owner of an address signs out another person who registered it', async (t) => {
  const mallory: IssuerUser = { sub: 'mallory-at-issuer', email: 'mallory@example.com', email_verified: true };
  const signedIn = await signInAs(mallory);
  const { id } = await sessionUser(signedIn.headers);
  const cookie = `local-session=${cookieOf(signedIn.headers, 'local-session')}`;
  const unverified = { email: 'frank@example.com', emailVerifiedAt: null };
  await ctx.db.update(users).set(unverified).where(eq(users.id, id));
  const payload = { email: 'mallory.new@example.com' };
  const changed = await app.inject({ method: 'PATCH', url: '/api/user/settings', headers: { cookie }, payload });
  t.equal(changed.json().settings.pendingEmail, payload.email);
  const frank = await signInAs({ sub: 'frank-at-issuer', email: 'frank@example.com', email_verified: true });
  t.equal((await sessionUser(frank.headers)).id, id);
  t.equal((await app.inject({ url: '/api/user', headers: { cookie } })).statusCode, 401);
  t.equal(await ctx.db.$count(emailChanges), 0, 'nor by a change of the address that waits');
  t.not((await sessionUser((await signInAs(mallory)).headers)).id, id, 'nor by the provider of before');
});

t.test('A deactivated account cannot sign in', async (t) => {
  const erin: IssuerUser = { sub: 'erin-at-issuer', email: 'erin@example.com', email_verified: true };
  const { id } = await sessionUser((await signInAs(erin)).headers);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, id));
  t.equal((await signInAs(erin)).statusCode, 403);
});

t.test('A callback without its cookie, with another state, a used code or too late is refused', async (t) => {
  issuer.setPerson(ALICE);
  const first = await begin();
  t.equal((await finish({ ...first, flow: '' })).statusCode, 400);
  t.equal((await finish({ ...first, flow: `${first.flow}x` })).statusCode, 400);
  t.equal((await finish({ ...first, path: first.path.replace(/state=[^&]+/, 'state=forged') })).statusCode, 400);
  const second = await begin();
  t.equal((await finish({ flow: second.flow, path: first.path })).statusCode, 400, 'the code of another flow');
  t.equal((await finish(second)).statusCode, 302);
  t.equal((await finish(second)).statusCode, 400, 'a code is good for one session');

  const third = await begin();
  clock.advance(11 * 60_000);
  t.equal((await finish(third)).statusCode, 400);
  const denied = await finish({ ...(await begin()), path: '/api/auth/oauth/oidc/callback?error=access_denied' });
  t.equal(denied.statusCode, 400);
});

t.test('Two concurrent callbacks of one new person make one account', async (t) => {
  issuer.setPerson({ sub: 'frank-at-issuer', email: 'frank@example.com', email_verified: true });
  const flows = [await begin(), await begin(), await begin(), await begin()];
  const answers = await Promise.all(flows.map(finish));
  t.same(
    answers.map(({ statusCode }) => statusCode),
    [302, 302, 302, 302],
  );
  t.equal(await ctx.db.$count(users, eq(users.email, 'frank@example.com')), 1);
});

t.test('A provider that is not configured is not found', async (t) => {
  for (const url of ['/api/auth/oauth/google', '/api/auth/oauth/github', '/api/auth/oauth/x/callback']) {
    t.equal((await app.inject(url)).statusCode, 404, url);
  }
});

t.test('An issuer that does not answer is 503, and is asked again', async (t) => {
  const away = await startIssuer('carillon', 'secret-of-carillon', CALLBACK);
  await away.close();
  const { app } = await testContext(t, {
    env: { OAUTH_OIDC_ISSUER: away.url, OAUTH_OIDC_CLIENT_ID: 'carillon', OAUTH_OIDC_CLIENT_SECRET: 'x' },
  });
  t.equal((await app.inject('/api/auth/oauth/oidc')).statusCode, 503);
});

t.test('A provider is enough for an account with a factor, unless the installation demands the factor', async (t) => {
  const person = { ...ALICE, sub: 'with-factor', email: 'with-factor@example.com' };
  const first = await signInAs(person);
  const cookie = `local-session=${cookieOf(first.headers, 'local-session')}`;
  const { recoveryCodes } = await addTotp(app, { headers: { cookie } as never }, ctx.now());
  t.equal((await signInAs(person)).statusCode, 302);
  for (const [secondFactor, statusCode] of [
    ['admins', 302],
    ['all', 401],
  ] as const) {
    await ctx.db.update(settings).set({ secondFactor });
    t.equal((await signInAs(person)).statusCode, statusCode, secondFactor);
  }
  const asked = await signInAs(person);
  t.notOk(cookieOf(asked.headers, 'local-session'));
  const { ticket, kinds } = asked.json().details;
  t.same(kinds, ['totp']);
  await ctx.db.update(settings).set({ secondFactor: 'off' });
  const answered = await post(app, '/api/auth/second-factor', {}, { ticket, recoveryCode: recoveryCodes[0] });
  t.equal(answered.json().user.email, 'with-factor@example.com');
});

t.test('A provider is linked to an account with a factor only once that is given', async (t) => {
  const bob = await signUp(app, { email: 'linked@example.com' });
  const { recoveryCodes } = await addTotp(app, bob, ctx.now());
  const person = { ...ALICE, sub: 'linked', email: 'linked@example.com' };
  const asked = await signInAs(person);
  t.equal(asked.statusCode, 401);
  t.equal((await signInAs(person)).statusCode, 401, 'nothing is linked yet');
  t.ok((await ctx.db.select().from(users).where(eq(users.id, bob.id)))[0]?.passwordHash, 'the password stays');
  const { ticket } = asked.json().details;
  t.equal((await post(app, '/api/auth/second-factor', {}, { ticket, recoveryCode: recoveryCodes[0] })).statusCode, 200);
  const later = await signInAs(person);
  t.equal(later.statusCode, 302);
  t.equal((await sessionUser(later.headers)).id, bob.id);

  await ctx.db.update(settings).set({ secondFactor: 'all' });
  const begun = await begin();
  const headers = { cookie: `oauth-flow=${begun.flow}`, accept: 'text/html' };
  const led = await app.inject({ url: begun.path, headers });
  t.match(led, { statusCode: 302, headers: { location: 'http://app.test/sign-in/second-factor' } });
  t.match(cookieOf(led.headers, 'sign-in-ticket'), /^[0-9a-f]{64}$/);
  await ctx.db.update(settings).set({ secondFactor: 'off' });
});

t.test('The browser goes on to where it wanted to go, within the application, also after a failure', async (t) => {
  issuer.setPerson(ALICE);
  const own = '/oauth/authorize?client_id=https%3A%2F%2Fclaude.ai%2Fclient&state=a%26b';
  const cases: [next: string, to: string][] = [
    [own, `http://app.test${own}`],
    ['https://evil.example/', 'http://app.test'],
    ['//evil.example/', 'http://app.test'],
    [`/${'a'.repeat(2000)}`, 'http://app.test'],
  ];
  for (const [next, to] of cases) {
    const finished = await finish(await begin(`?next=${encodeURIComponent(next)}`));
    t.equal(finished.headers.location, to, next.slice(0, 40));
  }
  const begun = await begin(`?next=${encodeURIComponent(own)}`);
  const headers = { cookie: `oauth-flow=${begun.flow}`, accept: 'text/html' };
  const denied = await app.inject({ url: '/api/auth/oauth/oidc/callback?error=access_denied', headers });
  t.equal(denied.headers.location, `http://app.test/sign-in?error=failed&next=${encodeURIComponent(own)}`);
});
