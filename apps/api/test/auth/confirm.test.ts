import { users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { PASSWORD, type Person, signUp } from '../support/people.ts';

const { app, ctx, clock } = await testContext(t);
const MINUTES_15 = 15 * 60_000;
let alice: Person;
t.beforeEach(async () => {
  clock.set(START);
  alice = await signUp(app);
});

type Headers = Record<string, string>;
const confirm = (headers: Headers, payload: object = { password: PASSWORD }) =>
  app.inject({ method: 'POST', url: '/api/auth/confirm', headers, payload });
const create = (headers: Headers) =>
  app.inject({ method: 'POST', url: '/api/keys', headers, payload: { name: 'x', scopes: ['tasks:read'] } });
const change = (id: string, payload: object) =>
  app.inject({ method: 'PATCH', url: `/api/keys/${id}`, headers: alice.headers, payload });
const REQUIRED = { statusCode: 403, headers: { 'x-error-code': 'CONFIRMATION_REQUIRED' } };

t.test('A key is made in a session of the last 15 minutes, or after the password was given in it', async (t) => {
  clock.advance(MINUTES_15 - 1);
  t.equal((await create(alice.headers)).statusCode, 201);
  clock.advance(1);
  const refused = await create(alice.headers);
  t.match(refused, REQUIRED);
  t.same(refused.json(), { success: false, error: 'Confirm with your password first.' });
  const confirmed = await confirm(alice.headers);
  t.equal(confirmed.statusCode, 200);
  t.same(confirmed.json(), { success: true, message: 'The session is confirmed for 15 minutes.' });
  t.equal((await create(alice.headers)).statusCode, 201);
  clock.advance(MINUTES_15);
  t.match(await create(alice.headers), REQUIRED);
});

t.test('The confirmation of one session is none of another', async (t) => {
  clock.advance(MINUTES_15);
  const payload = { email: alice.email, password: PASSWORD };
  const headers = { 'x-request-token': 'true' };
  const login = await app.inject({ method: 'POST', url: '/api/auth/login', headers, payload });
  t.equal((await create({ authorization: `Bearer ${login.json().token}` })).statusCode, 201);
  t.match(await create(alice.headers), REQUIRED);
});

t.test('Prolonging a key needs it, and renaming or shortening does not', async (t) => {
  const at = (hours: number) => new Date(START.getTime() + hours * 60 * 60_000).toISOString();
  const { id } = await createKey(app, alice, { expiresAt: at(24) });
  const { id: endless } = await createKey(app, alice);
  clock.advance(MINUTES_15);
  for (const expiresAt of [at(25), null]) t.match(await change(id, { expiresAt, name: 'Longer' }), REQUIRED);
  t.match(
    (await app.inject({ url: '/api/keys', headers: alice.headers }))
      .json()
      .keys.map(({ name }: { name: string }) => name),
    ['A program', 'A program'],
  );
  t.equal((await change(id, { name: 'Renamed', expiresAt: at(24) })).statusCode, 200);
  t.equal((await change(id, { expiresAt: at(23) })).statusCode, 200);
  t.match(await change(id, { expiresAt: at(24) }), REQUIRED);
  t.equal((await change(endless, { expiresAt: null })).statusCode, 200);
  t.equal((await change(endless, { expiresAt: at(30) })).statusCode, 200);
  clock.set(new Date(at(31)));
  t.match(await change(endless, { expiresAt: at(40) }), REQUIRED, 'nor is an expired key made valid again');
  await confirm(alice.headers);
  t.equal((await change(endless, { expiresAt: null })).statusCode, 200);
});

t.test('An Idempotency-Key repeats the secret of a key to no old session', async (t) => {
  const payload = { name: 'x', scopes: ['tasks:read'] };
  const headers = { ...alice.headers, 'idempotency-key': 'a-key' };
  const post = () => app.inject({ method: 'POST', url: '/api/keys', headers, payload });
  const made = await post();
  clock.advance(MINUTES_15);
  t.match(await post(), REQUIRED);
  await confirm(alice.headers);
  t.equal((await post()).body, made.body);
});

t.test('Guesses are limited, also with an Idempotency-Key, and confirm nothing', async (t) => {
  const strict = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1' } });
  const bob = await signUp(strict.app);
  const statuses: number[] = [];
  for (let guess = 0; guess < 7; guess++) {
    const headers = { ...bob.headers, ...(guess % 2 === 1 && { 'idempotency-key': `guess-${guess}` }) };
    const payload = { password: `wrong ${guess}` };
    const answer = await strict.app.inject({ method: 'POST', url: '/api/auth/confirm', headers, payload });
    statuses.push(answer.statusCode);
    if (guess === 0) t.same(answer.json().details, { password: ['is wrong'] });
  }
  t.same(statuses, [400, 400, 400, 400, 400, 429, 429]);
  const right = {
    method: 'POST',
    url: '/api/auth/confirm',
    headers: bob.headers,
    payload: { password: PASSWORD },
  } as const;
  t.equal((await strict.app.inject(right)).statusCode, 429);
});

t.test('Without a session, a password or a body nothing is confirmed', async (t) => {
  t.equal((await confirm({})).statusCode, 401);
  const key = await createKey(app, alice);
  t.match(await confirm(key.headers), { statusCode: 403, headers: { 'x-error-code': 'SESSION_REQUIRED' } });
  for (const payload of [
    {},
    { password: '' },
    { password: 1 },
    { currentPassword: PASSWORD },
    { password: PASSWORD, code: '1' },
  ])
    t.equal((await confirm(alice.headers, payload)).statusCode, 400, JSON.stringify(payload));
  await ctx.db.update(users).set({ passwordHash: null }).where(eq(users.id, alice.id));
  t.equal((await confirm(alice.headers)).statusCode, 409);
});
