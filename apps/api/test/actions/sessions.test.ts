import { rateWindows, sessions, settings, users } from '@carillon/db';
import t from 'tap';
import { openActions, readSession, unwrap } from '../../src/entry/exports/actions.ts';
import { serializeSession } from '../../src/handlers/actions/sessions.ts';
import { FORBIDDEN, getData, testActions, UNAUTHORIZED, validationError } from '../support/actions.ts';
import { testContext } from '../support/context.ts';
import { addTotp } from '../support/factors.ts';
import { PASSWORD } from '../support/people.ts';

const { app, ctx } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
const actions = testActions(ctx);
const client = { address: '198.51.100.7', userAgent: 'Firefox' };
const account = { name: 'Alice', email: 'alice@example.com', password: PASSWORD };
const { email, password } = account;
t.beforeEach(async () => {
  await ctx.db.delete(rateWindows);
  await ctx.db.delete(users);
});

t.test('An account is registered, signs in, uses its session in actions and by HTTP, and signs out', async (t) => {
  t.match(await getData(actions.register(client, account)), { id: /^\d+$/, email, name: 'Alice' });
  const { session, expiresAt, user } = await getData(actions.login(client, { email, password }));
  t.match(user, { id: /^\d+$/, email, name: 'Alice', role: 'USER' });
  t.equal(Date.parse(expiresAt) - ctx.now().getTime(), 7 * 24 * 60 * 60 * 1000);
  t.match(await ctx.db.select().from(sessions), [client], 'the session shows the client');
  t.equal((await actions.getExecutions(session)).success, true);

  const cookie = serializeSession({ cookieSecure: true }, session);
  const byHttp = await app.inject({ method: 'POST', url: '/api/auth/login', payload: { email, password } });
  const attributes = (header: unknown) => String(header).split('; ').slice(1).sort();
  t.same(attributes(cookie), attributes(byHttp.headers['set-cookie']), 'the cookie has the attributes of HTTP');
  t.notMatch(serializeSession({ cookieSecure: false }, session), /Secure/);
  const headers = { cookie: cookie.split(';', 1)[0] ?? '' };
  t.equal((await app.inject({ url: '/api/auth/session', headers })).statusCode, 200);
  t.equal(readSession(`a=b; ${headers.cookie}`), session);

  t.same(await actions.logout(session), { success: true, data: null });
  t.same(await actions.logout(session), UNAUTHORIZED);
  t.match(serializeSession({ cookieSecure: true }, null), /^local-session=; Max-Age=0;/);
});

t.test('A wrong password, a taken address and a deactivated account have their errors', async (t) => {
  await getData(actions.register(client, account));
  t.match(await actions.login(client, { email, password: 'Wrong-2026' }), { code: 'INVALID_CREDENTIALS' });
  t.match(await actions.register(client, account), { code: 'CONFLICT' });
  const { session } = await getData(actions.login(client, { email, password }));
  await addTotp(app, { headers: { authorization: `Bearer ${session}` } }, ctx.now());
  const asked = await actions.login(client, { email, password });
  t.match(asked, { code: 'INVALID_CREDENTIALS', error: /^Send a code/ }, 'an account with a second factor');
  await ctx.db.update(users).set({ isActive: false });
  t.same(await actions.login(client, { email, password }), FORBIDDEN);
});

t.test('Who has to add a second factor can sign out, and nothing else', async (t) => {
  await getData(actions.register(client, account));
  const { session } = await getData(actions.login(client, { email, password }));
  await ctx.db.update(settings).set({ secondFactor: 'all' });
  t.same(await actions.getExecutions(session), FORBIDDEN);
  t.same(await actions.logout(session), { success: true, data: null });
  await ctx.db.update(settings).set({ secondFactor: 'off' });
});

t.test('Invalid input and a missing client are validation errors', async (t) => {
  t.match(await actions.register(client, { ...account, password: 'short', name: 'x' }), {
    details: { password: [/8/, /upper/, /digit/], name: [/2/] },
  });
  for (const wrong of [null, 'token', {}, { address: '' }] as never[]) {
    t.match(await actions.login(wrong, { email, password }), { error: 'Validation error' });
  }
  t.same(
    await actions.login({ address: 7 } as never, { email, password }),
    validationError({ address: ['must be a string'] }),
  );
});

t.test('Sign-ins count together with those of HTTP, and those of other addresses do not', async (t) => {
  await getData(actions.register(client, account));
  const wrong = { email, password: 'Wrong-2026' };
  for (let n = 0; n < 4; n++) await actions.login(client, wrong);
  const send = () =>
    app.inject({ method: 'POST', url: '/api/auth/login', payload: wrong, remoteAddress: client.address });
  t.equal((await send()).statusCode, 401);
  t.equal((await send()).statusCode, 429);
  t.match(await actions.login(client, { email, password }), { code: 'RATE_LIMIT_EXCEEDED', retryAfter: Number });
  t.equal((await actions.login({ address: '198.51.100.8' }, { email, password })).success, true);
});

t.test('3 registrations an hour pass from an address', async (t) => {
  const register = (n: number) => actions.register(client, { ...account, email: `a${n}@example.com` });
  for (let n = 0; n < 3; n++) await getData(register(n));
  t.match(await register(3), { code: 'RATE_LIMIT_EXCEEDED' });
});

t.test('Accounts sign in during maintenance, and no account is registered', async (t) => {
  await getData(actions.register(client, account));
  await ctx.db.update(settings).set({ maintenanceMode: true });
  t.teardown(() => ctx.db.update(settings).set({ maintenanceMode: false }));
  t.equal((await actions.login(client, { email, password })).success, true);
  t.match(await actions.register(client, { ...account, email: 'b@example.com' }), { code: 'SERVICE_UNAVAILABLE' });
});

t.test('A Cookie header without a session, or with several, has none', async (t) => {
  for (const header of [null, undefined, '', 'a=b', 'local-session=a; local-session=b', 'xlocal-session=a']) {
    t.equal(readSession(header), null, String(header));
  }
});

t.test('unwrap returns the data, or throws the error with its code', async (t) => {
  t.equal(unwrap({ success: true, data: 7 }), 7);
  const result = await actions.logout(null);
  t.throws(() => unwrap(result), { name: 'ActionFailure', code: 'AUTH_REQUIRED', message: 'Unauthorized', result });
  t.throws(() => unwrap({ success: false, error: 'Validation error', details: { name: ['is required'] } }), {
    code: 'VALIDATION_ERROR',
    message: 'Validation error: name is required',
  });
});

t.test('Actions do not open without DATABASE_URL', async (t) => {
  await t.rejects(openActions({ NODE_ENV: 'test', DATA_DIR: ctx.config.dataDir }), { message: /DATABASE_URL/ });
});
