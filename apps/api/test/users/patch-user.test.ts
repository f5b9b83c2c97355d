import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { decryptProviderKey } from '../../src/lib/crypto/encryption.ts';
import { START, testContext } from '../support/context.ts';
import { type Person, signUpAlice, signUpBob } from '../support/people.ts';

const patch = { method: 'PATCH', url: '/api/user' } as const;
const { app, ctx, clock, logged } = await testContext(t, { env: { LOG_LEVEL: 'trace' } });
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  await ctx.db.delete(users);
});

const rowOf = async ({ id }: Person) =>
  (await ctx.db.select().from(users).where(eq(users.id, id)))[0] as typeof users.$inferSelect;

t.test('Name and time zone are changed, and nothing else', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const before = await rowOf(alice);
  clock.advance(5000);
  const updatedAt = new Date(START.getTime() + 5000);
  const payload = { name: 'Alice B. 🔔', timezone: 'asia/kolkata' };
  const answer = await app.inject({ ...patch, headers: alice.headers, payload });
  t.equal(answer.statusCode, 200);
  t.same(answer.json(), { success: true, user: { id: alice.id, ...payload, updatedAt: updatedAt.toISOString() } });
  t.same(await rowOf(alice), { ...before, ...payload, revision: 2, updatedAt });
  t.match(await rowOf(bob), { name: 'Bob', updatedAt: START });
});

t.test('Fields that are left out stay, and the time zone can be removed', async (t) => {
  const alice = await signUpAlice(app);
  const change = (payload: object) => app.inject({ ...patch, headers: alice.headers, payload });
  await change({ timezone: 'Europe/Lisbon' });
  t.match((await change({ name: 'Alicia' })).json().user, { name: 'Alicia', timezone: 'Europe/Lisbon' });
  const before = await rowOf(alice);
  clock.advance(5000);
  t.match((await change({})).json().user, { name: 'Alicia', timezone: 'Europe/Lisbon' });
  t.same(await rowOf(alice), before, 'an empty change changes nothing');
  t.match((await change({ timezone: null })).json().user, { name: 'Alicia', timezone: null });
  t.equal((await rowOf(alice)).timezone, null);
});

t.test('The provider key is encrypted at rest, never shown, and removed by null', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const key = 'sk-or-v1-0123456789abcdef';
  const change = (payload: object) => app.inject({ ...patch, headers: alice.headers, payload });
  const answer = await change({ encryptedProviderKey: key });
  t.equal(answer.statusCode, 200);

  const { providerKeyEncrypted: sealed } = await rowOf(alice);
  t.match(sealed, /^v1\.1\.[\w-]+$/);
  t.equal(decryptProviderKey(ctx, alice.id, sealed), key);
  t.throws(() => decryptProviderKey(ctx, bob.id, sealed), 'it decrypts in its own row only');
  const profile = await app.inject({ url: '/api/user', headers: alice.headers });
  for (const text of [answer.body, profile.body, JSON.stringify(logged), JSON.stringify(await rowOf(alice))]) {
    t.notMatch(text, key);
  }
  t.notMatch(profile.body, 'v1.1.');

  await change({ name: 'Alicia' });
  t.equal((await rowOf(alice)).providerKeyEncrypted, sealed, 'another change leaves the key');
  t.equal((await change({ encryptedProviderKey: null })).statusCode, 200);
  t.equal((await rowOf(alice)).providerKeyEncrypted, null);
  t.equal(decryptProviderKey(ctx, alice.id, null), null);
});

t.test('Invalid fields and fields of others are rejected by name, and nothing is changed', async (t) => {
  const alice = await signUpAlice(app);
  const before = await rowOf(alice);
  const rejected: [field: string, payload: object][] = [
    ['name', { name: 'A' }],
    ['name', { name: 'x'.repeat(101) }],
    ['name', { name: '   ' }],
    ['name', { name: null }],
    ['name', { name: 'Al\0ice' }],
    ['timezone', { timezone: 'Mars/Olympus' }],
    ['timezone', { timezone: 3 }],
    ['encryptedProviderKey', { encryptedProviderKey: '' }],
    ['encryptedProviderKey', { encryptedProviderKey: 'x'.repeat(4097) }],
    ['encryptedProviderKey', { encryptedProviderKey: 'sk-or\r\nX-Evil: 1' }],
    ['role', { name: 'Mallory', role: 'ADMIN' }],
    ['plan', { plan: 'pro' }],
    ['isActive', { isActive: false }],
    ['currentPassword', { email: 'mallory@example.com' }],
    ['trialEndsAt', { trialEndsAt: '2099-01-01T00:00:00Z' }],
    ['id', { id: 1 }],
    ['passwordHash', { passwordHash: 'x' }],
    ['providerKeyEncrypted', { providerKeyEncrypted: 'x' }],
    ['__proto__', JSON.parse('{"__proto__": {"role": "ADMIN"}}')],
  ];
  for (const [field, body] of rejected) {
    const payload = JSON.stringify(body);
    const headers = { ...alice.headers, 'content-type': 'application/json' };
    const answer = await app.inject({ ...patch, headers, payload });
    t.equal(answer.statusCode, 400, payload.slice(0, 80));
    if (field !== '__proto__') t.same(Object.keys(answer.json().details), [field]);
  }
  t.same(await rowOf(alice), before);
});

t.test('Changing the profile needs a session', async (t) => {
  const answer = await app.inject({ ...patch, payload: { name: 'Mallory' } });
  t.equal(answer.statusCode, 401);
  t.match(answer.json(), { success: false, error: 'Unauthorized', message: /.+/ });
});
