import { usedChallenges, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { createAuthenticator } from '../../support/authenticator.ts';
import { START, testContext } from '../../support/context.ts';
import { addPasskey, addTotp, getTicket, post } from '../../support/factors.ts';
import { confirmSession, PASSWORD, type Person, signUp } from '../../support/people.ts';

const ORIGIN = 'https://carillon.example.com';
const { app, ctx, clock } = await testContext(t, { env: { BASE_URL: ORIGIN, APP_URL: 'https://app.example.org' } });
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  alice = await signUp(app);
});

const MINUTES_15 = 15 * 60_000;
const OPTIONS = '/api/user/factors/passkey/options';
const REJECTED = { statusCode: 401, headers: { 'x-error-code': 'FACTOR_REJECTED' } };

/** A browser that asks for the options of a sign-in: the options, and the cookie that they belong to. */
async function begin(headers: Record<string, string> = {}) {
  const begun = await post(app, '/api/auth/passkey/options', headers);
  const cookie = /^passkey-browser=[^;]*/.exec(String(begun.headers['set-cookie'] ?? ''))?.[0];
  return { begun, options: begun.json().options, headers: cookie ? { cookie } : headers };
}
const signIn = (headers: Record<string, string>, response: object) =>
  post(app, '/api/auth/passkey', { ...headers, 'x-request-token': 'true' }, { response });

t.test('A passkey is added in a session, and signs in alone', async (t) => {
  const device = createAuthenticator(ORIGIN);
  const asked = await post(app, OPTIONS, alice.headers);
  t.match(asked.json().options, {
    rp: { id: 'carillon.example.com', name: 'Carillon' },
    user: { name: alice.email, displayName: 'Alice' },
    attestation: 'none',
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  const { id, recoveryCodes } = await addPasskey(app, alice, device);
  t.equal(recoveryCodes.length, 10);
  t.same((await post(app, OPTIONS, alice.headers)).json().options.excludeCredentials[0].id, device.id);

  const { begun, options, headers } = await begin();
  t.match(
    begun.headers['set-cookie'],
    /^passkey-browser=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
  );
  t.match(options, { rpId: 'carillon.example.com', allowCredentials: [], userVerification: 'required' });
  const signedIn = await signIn(headers, device.assert(options));
  t.equal(signedIn.statusCode, 200, signedIn.body);
  t.same(signedIn.json().user, { id: alice.id, email: alice.email, name: 'Alice', role: 'USER' });
  t.match(signedIn.headers['set-cookie'], /^local-session=/);
  const session = { authorization: `Bearer ${signedIn.json().token}` };
  const removed = await app.inject({ method: 'DELETE', url: `/api/user/factors/${id}`, headers: session });
  t.equal(removed.statusCode, 200, 'it is the factor of the new session');
  const gone = await begin();
  t.match(await signIn(gone.headers, device.assert(gone.options)), REJECTED);
});

t.test('With a passkey the password alone gets a ticket, which a recovery code answers', async (t) => {
  const { recoveryCodes } = await addPasskey(app, alice, createAuthenticator(ORIGIN));
  const asked = await post(app, '/api/auth/login', {}, { email: alice.email, password: PASSWORD });
  t.same(asked.json().details.kinds, ['passkey']);
  const payload = { ticket: asked.json().details.ticket, recoveryCode: recoveryCodes[0] };
  t.equal((await post(app, '/api/auth/second-factor', {}, payload)).statusCode, 200);
});

t.test('An answer signs in once, also of 10 at once, whether or not the device counts', async (t) => {
  for (const isShared of [false, true]) {
    const person = await signUp(app);
    const device = createAuthenticator(ORIGIN, { isShared });
    await addPasskey(app, person, device);
    const { options, headers } = await begin();
    const response = device.assert(options);
    const answers = await Promise.all(Array.from({ length: 10 }, () => signIn(headers, response)));
    t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
    t.match(await signIn(headers, response), REJECTED);
    const next = await begin(headers);
    t.equal((await signIn(next.headers, device.assert(next.options))).statusCode, 200);
  }
});

t.test('A copied device, whose counter is not newer, is refused', async (t) => {
  const device = createAuthenticator(ORIGIN);
  await addPasskey(app, alice, device);
  for (const [counter, statusCode] of [
    [7, 200],
    [7, 401],
    [6, 401],
    [0, 401],
    [8, 200],
  ] as const) {
    const { options, headers } = await begin();
    t.equal((await signIn(headers, device.assert(options, { counter }))).statusCode, statusCode, String(counter));
  }
});

t.test('Only an answer of this page, name, person and browser is accepted', async (t) => {
  const device = createAuthenticator(ORIGIN);
  await addPasskey(app, alice, device);
  const wrong = [
    { origin: 'https://evil.example.net' },
    { origin: 'https://carillon.example.com.evil.net' },
    { origin: 'https://sub.carillon.example.com' },
    { origin: 'http://carillon.example.com' },
    { origin: 'https://app.example.org' },
    { rpId: 'example.com' },
    { isVerified: false },
  ];
  for (const answer of wrong) {
    const { options, headers } = await begin();
    t.match(await signIn(headers, device.assert(options, answer)), REJECTED, JSON.stringify(answer));
  }
  const first = await begin();
  const second = await begin();
  t.match(await signIn(second.headers, device.assert(first.options)), REJECTED, 'the challenge of another browser');
  t.match(await signIn({}, device.assert(first.options)), REJECTED, 'of none');
  const forged = { challenge: Buffer.from('random.9999999999999.signature').toString('base64url') };
  t.match(await signIn(first.headers, device.assert(forged)), REJECTED, 'a challenge of nobody');
  const { options } = (await post(app, OPTIONS, alice.headers)).json();
  t.match(await signIn(alice.headers, device.assert(options)), REJECTED, 'that of a new passkey');
  clock.advance(10 * 60_000);
  t.match(await signIn(first.headers, device.assert(first.options)), REJECTED, 'an old one');
  const stranger = createAuthenticator(ORIGIN);
  const fresh = await begin();
  t.match(await signIn(fresh.headers, stranger.assert(fresh.options)), REJECTED, 'an unknown device');
  const response = { ...stranger.assert(fresh.options), id: device.id, rawId: device.id };
  t.match(await signIn(fresh.headers, response), REJECTED, 'the signature of another device');
  t.equal((await signIn(fresh.headers, device.assert(fresh.options))).statusCode, 200);
});

t.test('A new passkey answers its own session once', async (t) => {
  const device = createAuthenticator(ORIGIN);
  const bob = await signUp(app);
  const { options } = (await post(app, OPTIONS, alice.headers)).json();
  const add = (person: Person, response: object) =>
    post(app, '/api/user/factors/passkey', person.headers, { name: 'Laptop', response });
  for (const answer of [{ origin: 'https://evil.example.net' }, { rpId: 'example.com' }, { isVerified: false }]) {
    const refused = await add(alice, device.register(options, answer));
    t.same(refused.json().details, { response: ['is not accepted: start again'] }, JSON.stringify(answer));
  }
  t.equal((await add(bob, device.register(options))).statusCode, 400, 'another session');
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => add(alice, createAuthenticator(ORIGIN).register(options))),
  );
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 400, 400, 400, 400]);
  await addPasskey(app, await signUp(app), device);
  const again = (await post(app, OPTIONS, bob.headers)).json();
  t.equal((await add(bob, device.register(again.options))).statusCode, 400, 'the passkey of another account');
  for (const payload of [{}, { name: 'x' }, { name: '', response: {} }, { name: 'x', response: { id: '%' } }]) {
    t.equal((await post(app, '/api/user/factors/passkey', bob.headers, payload)).statusCode, 400);
  }
});

t.test('An account has at most 20 factors, also when they are added at once', async (t) => {
  for (let n = 0; n < 18; n++) await addPasskey(app, alice, createAuthenticator(ORIGIN));
  const responses: object[] = [];
  for (let n = 0; n < 5; n++) {
    const { options } = (await post(app, OPTIONS, alice.headers)).json();
    responses.push(createAuthenticator(ORIGIN).register(options));
  }
  const added = await Promise.all(
    responses.map((response) => post(app, '/api/user/factors/passkey', alice.headers, { name: 'x', response })),
  );
  t.same(added.map(({ statusCode }) => statusCode).sort(), [201, 201, 402, 402, 402]);
  t.match(added.find(({ statusCode }) => statusCode === 402)?.json().details, { resource: 'factors', limit: 20 });
  t.equal((await post(app, '/api/user/factors/totp', alice.headers, {})).statusCode, 402);
});

t.test('A passkey confirms its own session', async (t) => {
  const device = createAuthenticator(ORIGIN);
  const { id } = await addPasskey(app, alice, device);
  const bob = await signUp(app);
  const bobs = createAuthenticator(ORIGIN);
  await addPasskey(app, bob, bobs);
  clock.advance(MINUTES_15);
  await confirmSession(app, alice);
  const remove = () => app.inject({ method: 'DELETE', url: `/api/user/factors/${id}`, headers: alice.headers });
  t.equal((await remove()).statusCode, 403);
  const { options } = await begin(alice.headers);
  const confirm = (response: object) => post(app, '/api/auth/confirm', alice.headers, { response });
  t.match((await confirm(bobs.assert(options))).json().details, { response: ['is wrong, or was used before'] });
  const other = await begin(bob.headers);
  t.equal((await confirm(device.assert(other.options))).statusCode, 400, 'the challenge of another session');
  const right = device.assert(options);
  t.equal((await confirm(right)).statusCode, 200);
  t.equal((await confirm(right)).statusCode, 400, 'once');
  t.equal((await remove()).statusCode, 200);
});

t.test('A deactivated account does not get in, by no way', async (t) => {
  const device = createAuthenticator(ORIGIN);
  const { recoveryCodes } = await addPasskey(app, alice, device);
  const ticket = await getTicket(app, alice);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
  const { options, headers } = await begin();
  t.equal((await signIn(headers, device.assert(options))).statusCode, 403);
  const payload = { ticket, recoveryCode: recoveryCodes[0] };
  t.equal((await post(app, '/api/auth/second-factor', {}, payload)).statusCode, 403);
});

t.test('Challenges are stored only when they are used, until they expire', async (t) => {
  const count = () => ctx.db.$count(usedChallenges);
  const before = await count();
  const { options, headers } = await begin();
  t.equal(await count(), before);
  const device = createAuthenticator(ORIGIN);
  await addPasskey(app, alice, device);
  await signIn(headers, device.assert(options));
  t.equal(await count(), before + 2);
});

t.test('Where BASE_URL is an address there are no passkeys, and codes work', async (t) => {
  const plain = await testContext(t, { env: { BASE_URL: 'http://192.0.2.7:3000' } });
  const ada = await signUp(plain.app);
  const refused = await post(plain.app, OPTIONS, ada.headers);
  t.equal(refused.statusCode, 400);
  t.same(refused.json().details, { passkey: ['needs a host name: BASE_URL has the address 192.0.2.7'] });
  t.equal((await post(plain.app, '/api/auth/passkey/options', {})).statusCode, 400);
  t.ok(await addTotp(plain.app, ada, plain.ctx.now()));
});
