import t from 'tap';
import { buildApp } from '../../src/entry/app.ts';
import { SESSION_COOKIE } from '../../src/platform/http/credentials.ts';
import { ADMIN_KEY, CRON_SECRET, testContext } from '../support/context.ts';
import { signUpAda, signUpAlice, signUpBob } from '../support/people.ts';

const { app, ctx } = await testContext(t, {
  routes: (app) => {
    app.get('/mine', { config: { access: 'user' } }, async ({ caller, ctx, id }) => {
      return { id: caller.id, traced: ctx.requestId === id };
    });
    app.get('/for-admins', { config: { access: 'admin' } }, async ({ caller }) => ({ id: caller.id }));
    app.get('/tick', { config: { access: 'cron' } }, async ({ callerOrNull }) => ({ caller: callerOrNull }));
    app.get('/open', { config: { access: 'public' } }, async ({ caller }) => caller);
  },
});
const alice = await signUpAlice(app);
const bob = await signUpBob(app);
const ada = await signUpAda(app);

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
const cookieOf = (token: string) => `${SESSION_COOKIE}=${token}`;

t.test('A route without `access` does not boot', async (t) => {
  const boot = (config: object) => buildApp(ctx, { routes: (app) => app.get('/x', { config }, async () => 'x') });
  await t.rejects(boot({}), /GET \/x does not say who may call it/);
  await t.rejects(boot({ access: 'everybody' }), /does not say/);
});

t.test('A session is found by bearer token and by cookie', async (t) => {
  t.same((await get('/mine', { authorization: `Bearer ${alice.token}` })).json(), { id: alice.id, traced: true });
  t.match((await get('/mine', { authorization: `bearer ${alice.token}` })).json(), { id: alice.id });
  t.match((await get('/mine', { cookie: cookieOf(alice.token) })).json(), { id: alice.id });
  t.match((await get('/mine', { cookie: `a=b; ${cookieOf(alice.token)};c=d` })).json(), { id: alice.id });
});

t.test('The bearer token takes precedence over the cookie', async (t) => {
  const both = { authorization: `Bearer ${alice.token}`, cookie: cookieOf(bob.token) };
  t.match((await get('/mine', both)).json(), { id: alice.id });
  const wrong = { authorization: 'Bearer wrong', cookie: cookieOf(bob.token) };
  t.equal((await get('/mine', wrong)).statusCode, 401, 'a wrong one too');
  const basic = { authorization: 'Basic YTpi', cookie: cookieOf(bob.token) };
  t.match((await get('/mine', basic)).json(), { id: bob.id }, "a proxy's own sign-in is not ours");
});

t.test('A request without exactly one session has no access', async (t) => {
  const tries: Record<string, string>[] = [
    {},
    { authorization: '' },
    { authorization: 'Bearer' },
    { authorization: 'Bearer ' },
    { authorization: `Bearer ${alice.token} x` },
    { authorization: `Bearer  ${alice.token}` },
    { authorization: `Bearer ${alice.token},Bearer ${bob.token}` },
    { authorization: alice.token },
    { authorization: `Bearer ${CRON_SECRET}` },
    { cookie: `${cookieOf(alice.token)}; ${cookieOf(bob.token)}` },
    { cookie: cookieOf('') },
    { cookie: `x${cookieOf(alice.token)}` },
    { cookie: 'local-session' },
  ];
  for (const headers of tries) {
    const response = await get('/mine', headers);
    t.equal(response.statusCode, 401, JSON.stringify(headers).slice(0, 80));
    t.match(response.json(), { success: false, error: 'Unauthorized', message: String });
  }
});

t.test('Two Authorization headers count as none', async (t) => {
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  const { request } = await import('node:http');
  const ask = (path: string, values: string[]) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = ['Host', 'x', ...values.flatMap((value) => ['Authorization', value])];
      const asked = request({ port, path, headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asked.on('error', reject).end();
    });
  t.equal(await ask('/mine', [`Bearer ${alice.token}`]), 200);
  t.equal(await ask('/mine', [`Bearer ${alice.token}`, `Bearer ${bob.token}`]), 401);
  t.equal(await ask('/tick', [`Bearer ${CRON_SECRET}`]), 200);
  t.equal(await ask('/tick', [`Bearer ${CRON_SECRET}`, 'Bearer x']), 401);
});

t.test('The scheduler needs its secret and nothing else', async (t) => {
  t.same((await get('/tick', { authorization: `Bearer ${CRON_SECRET}` })).json(), { caller: null });
  const tries: Record<string, string>[] = [
    {},
    { authorization: 'Bearer undefined' },
    { authorization: `Bearer ${CRON_SECRET}x` },
    { authorization: `Bearer ${CRON_SECRET.slice(0, -1)}` },
    { authorization: `Basic ${CRON_SECRET}` },
    { authorization: CRON_SECRET },
    { authorization: `Bearer ${ADMIN_KEY}` },
    { cookie: cookieOf(CRON_SECRET) },
    { ...ada.headers },
  ];
  for (const headers of tries) {
    const response = await get('/tick', headers);
    t.equal(response.statusCode, 401);
    t.match(response.json(), { success: false, error: 'Unauthorized' });
  }
});

t.test('An admin needs the role and the key', async (t) => {
  t.match((await get('/for-admins', ada.headers)).json(), { id: ada.id });
  const { authorization } = ada.headers;
  const tries: Record<string, string>[] = [
    { authorization },
    { authorization, 'x-admin-key': '' },
    { authorization, 'x-admin-key': `${ADMIN_KEY}x` },
    { authorization: alice.headers.authorization, 'x-admin-key': ADMIN_KEY },
  ];
  for (const headers of tries) {
    const response = await get('/for-admins', headers);
    t.equal(response.statusCode, 403);
    t.same(response.json(), {
      success: false,
      error: 'Unauthorized',
      message: 'Admin access required',
    });
  }
  t.equal((await get('/for-admins', { 'x-admin-key': ADMIN_KEY })).statusCode, 401, 'the key alone is not a session');
});

t.test('A public route that reads `request.caller` fails', async (t) => {
  t.equal((await get('/open')).statusCode, 500);
});
