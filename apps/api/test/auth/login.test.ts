import { auditLog, sessions, users } from '@carillon/db';
import { hash } from '@node-rs/argon2';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { PASSWORD, signUpAlice } from '../support/people.ts';

const RIGHT = { email: 'alice@example.com', password: PASSWORD };

const { app, ctx, clock, logged } = await testContext(t, {
  env: { RATE_LIMIT_MULTIPLIER: '1000', LOG_LEVEL: 'trace' },
});
t.beforeEach(async () => {
  clock.set(START);
  logged.length = 0;
  await ctx.db.delete(users);
});

const logIn = (body: object = RIGHT, headers: Record<string, string> = {}) =>
  app.inject({ method: 'POST', url: '/api/auth/login', payload: body, headers });
const whoAmI = (headers: Record<string, string>) => app.inject({ url: '/api/auth/session', headers });

t.test('A sign-in answers with the user and sets exactly the cookie of the specification', async (t) => {
  const alice = await signUpAlice(app);
  const answer = await logIn();
  t.equal(answer.statusCode, 200);
  const user = { id: alice.id, email: alice.email, name: 'Alice', role: 'USER' };
  t.same(answer.json(), { success: true, user });
  const cookie = String(answer.headers['set-cookie']);
  t.match(cookie, /^local-session=[\w-]+\.[\w-]+\.[\w-]+; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/);
  const session = await whoAmI({ cookie: cookie.split(';')[0] as string });
  t.equal(session.json().user.id, alice.id);
});

t.test('The cookie is without Secure only if the configuration says so', async (t) => {
  const { app } = await testContext(t, { env: { COOKIE_SECURE: 'false' } });
  await signUpAlice(app);
  t.match(
    (await app.inject({ method: 'POST', url: '/api/auth/login', payload: RIGHT })).headers['set-cookie'],
    /^local-session=[\w.-]+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/,
  );
});

t.test('The token is in the body only on request, and works as a bearer token', async (t) => {
  const alice = await signUpAlice(app);
  for (const value of ['false', '1', 'TRUE', '']) {
    t.notOk('token' in (await logIn(RIGHT, { 'x-request-token': value })).json(), value);
  }
  const answer = await logIn(RIGHT, { 'x-request-token': 'true' });
  const { token } = answer.json();
  t.match(answer.headers['set-cookie'], `local-session=${token};`, 'one session, carried either way');
  t.equal((await whoAmI({ authorization: `Bearer ${token}` })).json().user.id, alice.id);
});

t.test('The e-mail address is matched in any case', async (t) => {
  await signUpAlice(app);
  t.equal((await logIn({ ...RIGHT, email: ' ALICE@example.COM ' })).statusCode, 200);
});

t.test('A wrong password and an unknown address get the same answer', async (t) => {
  await signUpAlice(app);
  const [provided] = await ctx.db
    .insert(users)
    .values({ identityUserId: 'google:1', email: 'provided@example.com', name: 'Provided' })
    .returning();
  const refused = [
    await logIn({ ...RIGHT, password: 'Wrong-2026' }),
    await logIn({ ...RIGHT, password: 'x' }),
    await logIn({ ...RIGHT, password: 'x'.repeat(1024) }),
    await logIn({ ...RIGHT, email: 'nobody@example.com' }),
    await logIn({ ...RIGHT, email: provided?.email }),
  ];
  const error = 'The e-mail address or the password is wrong.';
  for (const answer of refused) {
    t.equal(answer.statusCode, 401);
    t.same(answer.json(), { success: false, error });
    t.equal(answer.headers['set-cookie'], undefined);
  }
  t.equal(await ctx.db.$count(sessions), 1, "Alice's own");
});

t.test('A deactivated account is named as such only for the right password', async (t) => {
  const alice = await signUpAlice(app);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
  const answer = await logIn();
  t.equal(answer.statusCode, 403);
  t.same(answer.json(), { success: false, error: 'This account has been deactivated.' });
  t.equal(answer.headers['set-cookie'], undefined);
  t.equal((await logIn({ ...RIGHT, password: 'Wrong-2026' })).statusCode, 401);
  t.equal(await ctx.db.$count(sessions), 1, 'no session was opened');
});

t.test('Missing and unknown fields are validation errors', async (t) => {
  for (const [field, body] of [
    ['email', { password: PASSWORD }],
    ['email', { ...RIGHT, email: 'alice' }],
    ['password', { email: RIGHT.email }],
    ['password', { ...RIGHT, password: 12345678 }],
    ['password', { ...RIGHT, password: 'a\0b' }],
    ['remember', { ...RIGHT, remember: true }],
  ] as const) {
    const answer = await logIn(body);
    t.equal(answer.statusCode, 400);
    t.same(Object.keys(answer.json().details), [field]);
  }
});

t.test('No password or hash is answered or logged', async (t) => {
  await signUpAlice(app);
  const answers = [await logIn(), await logIn({ ...RIGHT, password: 'Wrong-2026' })];
  for (const text of [...answers.map(({ body }) => body), JSON.stringify(logged)]) {
    t.notMatch(text, PASSWORD);
    t.notMatch(text, 'Wrong-2026');
    t.notMatch(text, 'argon2');
  }
});

t.test('A weak hash is replaced at sign-in, and a current one stays', async (t) => {
  const alice = await signUpAlice(app);
  const stored = async () => (await ctx.db.select().from(users).where(eq(users.id, alice.id)))[0]?.passwordHash;
  const weak = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1, parallelism: 1 });
  await ctx.db.update(users).set({ passwordHash: weak }).where(eq(users.id, alice.id));
  t.equal((await logIn({ ...RIGHT, password: 'Wrong-2026' })).statusCode, 401);
  t.equal(await stored(), weak);
  t.equal((await logIn()).statusCode, 200);
  const strong = await stored();
  t.match(strong, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  t.equal((await logIn()).statusCode, 200);
  t.equal(await stored(), strong);
});

t.test('Concurrent sign-ins that find a weak hash all succeed', async (t) => {
  await signUpAlice(app);
  await ctx.db.update(users).set({ passwordHash: await hash(PASSWORD, { memoryCost: 8192, timeCost: 1 }) });
  const answers = await Promise.all(Array.from({ length: 10 }, () => logIn()));
  t.same(
    answers.map(({ statusCode }) => statusCode),
    Array(10).fill(200),
  );
});

t.test('A sign-in is in the audit log, a refused one is not', async (t) => {
  const alice = await signUpAlice(app);
  await ctx.db.delete(auditLog);
  await logIn({ ...RIGHT, password: 'Wrong-2026' });
  const request = { method: 'POST', url: '/api/auth/login', payload: RIGHT, remoteAddress: '192.0.2.7' } as const;
  await app.inject({ ...request, headers: { 'user-agent': 'x'.repeat(3000), 'x-request-id': 'req-2' } });
  const [record, ...more] = await ctx.db.select().from(auditLog);
  t.same(more, []);
  t.match(record, { at: START, kind: 'user.signed_in', actorId: alice.id, userId: alice.id, address: '192.0.2.7' });
  t.match(record, { actorEmail: alice.email, requestId: 'req-2' });
  const [session] = await ctx.db.select().from(sessions).where(eq(sessions.address, '192.0.2.7'));
  t.equal(session?.userAgent, 'x'.repeat(500));
});
