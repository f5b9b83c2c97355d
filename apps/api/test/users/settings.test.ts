import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { decryptProviderKey } from '../../src/lib/crypto/encryption.ts';
import { assertNeedsSession } from '../support/access.ts';
import { START, testContext } from '../support/context.ts';
import { PASSWORD, type Person, signUp, signUpAlice, signUpBob } from '../support/people.ts';

const { app, ctx, clock, logged } = await testContext(t, { env: { LOG_LEVEL: 'trace' } });
const url = '/api/user/settings';
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  await ctx.db.delete(users);
});

const read = async ({ headers }: Person) => (await app.inject({ url, headers })).json().settings;
const change = ({ headers }: Person, payload: object) => app.inject({ method: 'PATCH', url, headers, payload });
const rowOf = async ({ id }: Person) =>
  (await ctx.db.select().from(users).where(eq(users.id, id)))[0] as typeof users.$inferSelect;

t.test('A new account has its address, both kinds of notifications on, and nothing else', async (t) => {
  const alice = await signUpAlice(app);
  const answer = await app.inject({ url, headers: alice.headers });
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), {
    success: true,
    settings: {
      email: alice.email,
      pendingEmail: null,
      language: 'en',
      notificationPreferences: { email: true, webhook: true },
      webhookUrl: null,
      webhookId: null,
      notificationEmails: [],
      unconfirmedEmails: [],
      channels: [],
      hasModelRouterApiKey: false,
    },
  });
});

t.test('A new account has the language that its client accepts', async (t) => {
  const cases = { 'pt-PT,en;q=0.5': 'pt-BR', 'de, en;q=0.9': 'en' };
  for (const [header, language] of Object.entries(cases)) {
    const email = `${language.toLowerCase()}@example.com`;
    await app.inject({
      method: 'POST',
      url: '/api/auth/register',
      headers: { 'accept-language': header },
      payload: { name: 'Nina', email, password: PASSWORD },
    });
    const [account] = await ctx.db.select({ language: users.language }).from(users).where(eq(users.email, email));
    t.equal(account?.language, language, header);
  }
});

t.test('Each setting can be changed on its own, and the response has all of them', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const his = await read(bob);
  clock.advance(5000);
  const changes: [object, object?][] = [
    [{ notificationPreferences: { email: false } }, { notificationPreferences: { email: false, webhook: true } }],
    [{ notificationPreferences: { webhook: false } }, { notificationPreferences: { email: false, webhook: false } }],
    [{ notificationPreferences: {} }, {}],
    [
      { notificationEmails: ['a@example.com', ' B@Example.com ', 'b@example.com'] },
      {
        notificationEmails: ['a@example.com', 'b@example.com'],
        unconfirmedEmails: ['a@example.com', 'b@example.com'],
      },
    ],
    [{ notificationEmails: [] }, { notificationEmails: [], unconfirmedEmails: [] }],
    [{ webhookUrl: 'https://hooks.example.com/' }],
    [{ webhookUrl: null }],
    [{ modelRouterApiKey: 'sk-or-v1-0123456789abcdef' }, { hasModelRouterApiKey: true }],
    [{ modelRouterApiKey: null }, { hasModelRouterApiKey: false }],
    [{ language: 'pt-BR' }],
    [{ language: 'en' }],
    [{ email: 'alice.b@example.com', currentPassword: PASSWORD }, { pendingEmail: 'alice.b@example.com' }],
    [{}],
  ];
  for (const [payload, after = payload] of changes) {
    const before = await read(alice);
    const answer = await change(alice, payload);
    t.equal(answer.statusCode, 200, JSON.stringify(payload));
    const { webhookId, ...settings } = answer.json().settings;
    t.equal(webhookId !== null, settings.webhookUrl !== null);
    const { webhookId: _before, ...rest } = before;
    t.same(settings, { ...rest, ...after });
    t.same(await read(alice), { ...settings, webhookId });
  }
  t.equal((await rowOf(alice)).updatedAt.getTime(), START.getTime() + 5000);
  t.same(await read(bob), his);
});

t.test('The key is the key of the profile: encrypted, and never shown', async (t) => {
  const alice = await signUpAlice(app);
  const key = 'sk-or-v1-0123456789abcdef';
  const answer = await change(alice, { modelRouterApiKey: key });
  const { providerKeyEncrypted } = await rowOf(alice);
  t.equal(decryptProviderKey(ctx, alice.id, providerKeyEncrypted), key);
  const shown = await app.inject({ url, headers: alice.headers });
  for (const text of [answer.body, shown.body, JSON.stringify(logged)]) t.notOk(text.includes(key));
  await app.inject({
    method: 'PATCH',
    url: '/api/user',
    headers: alice.headers,
    payload: { encryptedProviderKey: null },
  });
  t.match(await read(alice), { hasModelRouterApiKey: false });
});

t.test('An empty change changes nothing', async (t) => {
  const alice = await signUpAlice(app);
  const before = await rowOf(alice);
  clock.advance(5000);
  t.equal((await change(alice, {})).statusCode, 200);
  t.same(await rowOf(alice), before);
});

t.test('Invalid fields are rejected by name, and nothing is changed', async (t) => {
  const alice = await signUpAlice(app);
  const before = await rowOf(alice);
  const eleven = Array.from({ length: 11 }, (_, n) => `a${n}@example.com`);
  const rejected: [field: string, payload: object][] = [
    ['email', { email: 'alice' }],
    ['email', { email: null }],
    ['email', { email: `${'x'.repeat(250)}@example.com` }],
    ['notificationPreferences', { notificationPreferences: null }],
    ['notificationPreferences.email', { notificationPreferences: { email: 'no' } }],
    ['notificationPreferences.sms', { notificationPreferences: { sms: true } }],
    ['language', { language: 'pt' }],
    ['language', { language: null }],
    ['modelRouterApiKey', { modelRouterApiKey: '' }],
    ['modelRouterApiKey', { modelRouterApiKey: 'sk-or\r\nX-Evil: 1' }],
    ['modelRouterApiKey', { modelRouterApiKey: 'x'.repeat(4097) }],
    ['webhookUrl', { webhookUrl: 'ftp://example.com/' }],
    ['webhookUrl', { webhookUrl: 'http://169.254.169.254/', email: 'other@example.com' }],
    ['notificationEmails', { notificationEmails: eleven }],
    ['notificationEmails', { notificationEmails: null }],
    ['notificationEmails', { notificationEmails: ['a@example.com', 'b'] }],
    ['notificationEmails', { notificationEmails: ['a\0@example.com'] }],
    ['role', { role: 'ADMIN' }],
    ['notificationUrl', { notificationUrl: 'https://hooks.example.com/' }],
    ['emailVerifiedAt', { emailVerifiedAt: '2026-01-01T00:00:00Z' }],
  ];
  for (const [field, payload] of rejected) {
    const answer = await change(alice, payload);
    t.equal(answer.statusCode, 400, field);
    t.same(Object.keys(answer.json().details), [field]);
  }
  t.same(await rowOf(alice), before);
});

t.test('Ten addresses for notifications are accepted', async (t) => {
  const alice = await signUpAlice(app);
  const notificationEmails = Array.from({ length: 10 }, (_, n) => `a${n}@example.com`);
  t.match((await change(alice, { notificationEmails })).json().settings, { notificationEmails });
});

t.test('Concurrent changes keep each other’s fields', async (t) => {
  const alice = await signUp(app);
  const changes = [
    { notificationPreferences: { email: false } },
    { notificationPreferences: { webhook: false } },
    { webhookUrl: 'https://hooks.example.com/' },
    { notificationEmails: ['a@example.com'] },
    { modelRouterApiKey: 'sk-1' },
  ];
  for (const { statusCode } of await Promise.all(changes.map((one) => change(alice, one)))) t.equal(statusCode, 200);
  t.match(await read(alice), {
    notificationPreferences: { email: false, webhook: false },
    webhookUrl: 'https://hooks.example.com/',
    notificationEmails: ['a@example.com'],
    hasModelRouterApiKey: true,
  });
});

t.test('Reading and changing settings needs a session', async (t) => {
  await assertNeedsSession(t, app, { url });
  await assertNeedsSession(t, app, { method: 'PATCH', url, payload: {} });
});
