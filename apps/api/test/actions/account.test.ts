import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { decryptProviderKey } from '../../src/lib/crypto/encryption.ts';
import { getData, testActions, UNAUTHORIZED, validationError } from '../support/actions.ts';
import { START, testContext } from '../support/context.ts';
import { PASSWORD, type Person, signUp, signUpAlice, signUpBob } from '../support/people.ts';

const { app, ctx, clock, logged } = await testContext(t);
const actions = testActions(ctx);
let alice: Person;
let bob: Person;
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  await ctx.db.delete(users);
  alice = await signUpAlice(app);
  bob = await signUpBob(app);
});
const rowOf = async ({ id }: Person) =>
  (await ctx.db.select().from(users).where(eq(users.id, id)))[0] as typeof users.$inferSelect;
const signIn = async (email: string, password: string) =>
  (await app.inject({ method: 'POST', url: '/api/auth/login', payload: { email, password } })).statusCode;

t.test('updateProfile changes the given fields of the caller’s profile and returns it', async (t) => {
  const his = await rowOf(bob);
  clock.advance(1000);
  const given = {
    name: 'Alice B.',
    email: 'Alice.B@Example.com',
    timezone: 'Europe/Lisbon',
    notificationPreferences: { email: false, webhook: true },
  };
  const data = await getData(actions.updateProfile(alice.token, given));
  const updatedAt = '2026-11-20T10:00:01.000Z';
  const addresses = { email: alice.email, pendingEmail: 'alice.b@example.com' };
  t.same(data, { ...given, ...addresses, id: String(alice.id), updatedAt });
  const user = (await app.inject({ url: '/api/user', headers: alice.headers })).json().user;
  t.match(user, { name: 'Alice B.', email: alice.email, timezone: 'Europe/Lisbon' });
  clock.advance(1000);
  t.same(await getData(actions.updateProfile(alice.token, {})), data, 'an empty change changes nothing');
  t.match(await getData(actions.updateProfile(alice.token, { timezone: null })), { timezone: null, name: 'Alice B.' });
  t.same(await rowOf(bob), his, 'other users are not changed');
});

t.test('updateProfile rejects invalid fields by name, and a taken address', async (t) => {
  const rejected = (given: object) => actions.updateProfile(alice.token, given);
  t.same(await rejected({ name: 'A' }), validationError({ name: ['must be at least 2 characters'] }));
  t.same(await rejected({ email: 'alice' }), validationError({ email: ['must be an e-mail address'] }));
  t.match(await rejected({ timezone: 'Mars' }), { details: { timezone: [/IANA/] } });
  t.same(
    await rejected({ notificationPreferences: { sms: true } }),
    validationError({ 'notificationPreferences.sms': ['is not a known field'] }),
  );
  t.same(await rejected({ role: 'ADMIN' }), validationError({ role: ['is not a known field'] }));
  t.match(await rejected({ email: 'BOB@example.com' }), { success: false, code: 'CONFLICT', error: /registered/ });
});

t.test('The rate limit of a service function is reported in the same way', async (t) => {
  const { config } = ctx;
  const exact = testActions({ ...ctx, config: { ...config, rateLimitMultiplier: 1 } });
  for (let n = 0; n < 5; n++)
    t.equal((await exact.updateProfile(alice.token, { email: `a${n}@example.com` })).success, true);
  t.same(await exact.updateProfile(alice.token, { email: 'a6@example.com' }), {
    success: false,
    error: 'Too many requests',
    code: 'RATE_LIMIT_EXCEEDED',
    retryAfter: 3600,
  });
});

t.test('changePassword needs the current password, and ends the other sessions', async (t) => {
  const elsewhere = (
    await app.inject({
      method: 'POST',
      url: '/api/auth/login',
      headers: { 'x-request-token': 'true' },
      payload: { email: alice.email, password: PASSWORD },
    })
  ).json().token;
  t.equal((await actions.getExecutions(elsewhere)).success, true);
  const newPassword = 'Another-2027';
  t.same(await actions.changePassword(alice.token, { currentPassword: PASSWORD, newPassword }), {
    success: true,
    data: null,
  });
  t.equal((await actions.getExecutions(alice.token)).success, true, 'this session stays open');
  t.same(await actions.getExecutions(elsewhere), UNAUTHORIZED);
  t.equal((await actions.getExecutions(bob.token)).success, true, "and a stranger's does");
  t.equal(await signIn(alice.email, PASSWORD), 401);
  t.equal(await signIn(alice.email, newPassword), 200);
});

t.test('changePassword rejects by field', async (t) => {
  const rejected = (currentPassword: string, newPassword: string) =>
    actions.changePassword(alice.token, { currentPassword, newPassword });
  t.same(await rejected('wrong-password', 'Another-2027'), validationError({ currentPassword: ['is wrong'] }));
  t.same(
    await rejected('12345', 'Another-2027'),
    validationError({ currentPassword: ['must be at least 6 characters'] }),
  );
  t.same(await rejected(PASSWORD, 'Short-1'), validationError({ newPassword: ['must be at least 8 characters'] }));
  t.same(
    await rejected(PASSWORD, 'password'),
    validationError({ newPassword: ['must contain an upper-case letter', 'must contain a digit'] }),
  );
  t.match(await rejected(PASSWORD, PASSWORD), { details: { newPassword: [/differ/] } });
  t.equal(await signIn(alice.email, PASSWORD), 200);
  await ctx.db.update(users).set({ passwordHash: null }).where(eq(users.id, alice.id));
  t.match(await rejected(PASSWORD, 'Another-2027'), { success: false, code: 'CONFLICT', error: /no password/ });
});

t.test('updateSettings stores key, URL and mail addresses, and returns only whether there is a key', async (t) => {
  const key = 'sk-or-v1-0123456789abcdef';
  const given = { webhookUrl: 'https://hooks.example.com/alice', notificationEmails: ['team@example.com'] };
  const answer = await actions.updateSettings(alice.token, { ...given, modelRouterApiKey: key });
  t.match(answer, { success: true, data: { ...given, webhookId: /-/, hasModelRouterApiKey: true } });
  t.notMatch(JSON.stringify([answer, logged]), key);
  const { providerKeyEncrypted } = await rowOf(alice);
  t.equal(decryptProviderKey(ctx, alice.id, providerKeyEncrypted as string), key);
  const cleared = { modelRouterApiKey: null, webhookUrl: null, notificationEmails: [] };
  t.same(await getData(actions.updateSettings(alice.token, cleared)), {
    ...{ webhookUrl: null, webhookId: null, notificationEmails: [], hasModelRouterApiKey: false },
  });
  t.match(await rowOf(bob), { notificationUrl: null, notificationEmails: [] });
});

t.test('updateSettings rejects by field', async (t) => {
  const rejected = (given: object) => actions.updateSettings(alice.token, given);
  t.match(await rejected({ webhookUrl: 'ftp://example.com' }), { details: { webhookUrl: [/http/] } });
  t.match(await rejected({ webhookUrl: 'http://169.254.0.1/' }), { details: { webhookUrl: [/./] } });
  t.same(
    await rejected({ notificationEmails: ['x'] }),
    validationError({ notificationEmails: ['item 1 must be an e-mail address'] }),
  );
  t.same(
    await rejected({ notificationEmails: 'a@example.com' }),
    validationError({ notificationEmails: ['must be an array'] }),
  );
  t.match(await rejected({ modelRouterApiKey: 'two words' }), { details: { modelRouterApiKey: [/printable/] } });
  t.same(
    await rejected({ email: 'a@example.com' }),
    validationError({ email: ['is not a known field'] }),
    'updateProfile has this field',
  );
});

t.test('A session that REST has opened or ended is the same in actions', async (t) => {
  const carol = await signUp(app, { name: 'Carol' });
  t.equal((await actions.updateProfile(carol.token, {})).success, true);
  await app.inject({ method: 'POST', url: '/api/auth/logout', headers: carol.headers });
  t.same(await actions.updateProfile(carol.token, {}), UNAUTHORIZED);
});
