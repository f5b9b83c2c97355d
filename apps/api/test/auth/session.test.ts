import { sessions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { openSession } from '../../src/product/auth/sessions.ts';
import { START, testContext } from '../support/context.ts';
import { findCallerByToken, signUp, signUpAlice, signUpBob } from '../support/people.ts';
import { INVALID_TOKENS, TOKEN_SECRET } from '../support/tokens.ts';

const DAY = 86_400_000;
const url = '/api/auth/session';

const { app, ctx, clock, logged } = await testContext(t, {
  env: { RATE_LIMIT_MULTIPLIER: '1000', JWT_SECRET: TOKEN_SECRET },
});
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
});

t.test('The session shows the signed-in user, by cookie and by bearer token', async (t) => {
  const alice = await signUp(app, { email: 'alice@example.com', timezone: 'Europe/Lisbon' });
  const user = {
    id: alice.id,
    email: 'alice@example.com',
    name: 'Alice',
    role: 'USER',
    timezone: 'Europe/Lisbon',
    createdAt: START.toISOString(),
  };
  for (const headers of [{ cookie: `theme=dark; local-session=${alice.token}` }, alice.headers]) {
    const answer = await app.inject({ url, headers });
    t.equal(answer.statusCode, 200);
    t.same(answer.json(), { authenticated: true, user });
  }
});

t.test('A request without a session is 401 and not authenticated', async (t) => {
  for (const headers of [
    {},
    { cookie: 'local-session=' },
    { authorization: 'Bearer' },
    { authorization: 'Basic YTpi' },
  ]) {
    const answer = await app.inject({ url, headers });
    t.equal(answer.statusCode, 401);
    t.same(answer.json(), { authenticated: false });
  }
});

t.test('Every malformed, forged or foreign token is 401, as bearer and as cookie', async (t) => {
  await signUpAlice(app);
  for (const [what, token] of Object.entries(INVALID_TOKENS)) {
    // White space changes a header or cookie on its way.
    if (/\s/.test(token)) continue;
    for (const headers of [{ authorization: `Bearer ${token}` }, { cookie: `local-session=${token}` }]) {
      const answer = await app.inject({ url, headers });
      t.equal(answer.statusCode, 401, what);
      t.same(answer.json(), { authenticated: false });
    }
  }
  t.notOk(
    logged.some(({ level }) => Number(level) >= 50),
    'none of them is an error of ours',
  );
});

t.test('A well-signed token without its session, or of another user, is 401', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  const found = await findCallerByToken(ctx, alice.token);
  const sessionId = found?.sessionId as string;
  const tokens = [
    ctx.tokens.sign({ userId: alice.id, sessionId: '00000000-0000-4000-8000-000000000000' }, START),
    ctx.tokens.sign({ userId: bob.id, sessionId }, START),
    ctx.tokens.sign({ userId: 999_999, sessionId }, START),
  ];
  for (const token of tokens) {
    t.equal((await app.inject({ url, headers: { authorization: `Bearer ${token}` } })).statusCode, 401);
  }
});

t.test('A session lasts 7 days, however often it is used', async (t) => {
  const { headers } = await signUpAlice(app);
  for (let day = 1; day < 7; day++) {
    clock.advance(DAY);
    t.equal((await app.inject({ url, headers })).statusCode, 200, `day ${day}`);
  }
  clock.advance(DAY - 1000);
  t.equal((await app.inject({ url, headers })).statusCode, 200);
  clock.advance(1000);
  t.equal((await app.inject({ url, headers })).statusCode, 401);
});

t.test('Deactivating or deleting the account ends its sessions at once', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, alice.id));
  await ctx.db.delete(users).where(eq(users.id, bob.id));
  for (const { headers } of [alice, bob]) t.equal((await app.inject({ url, headers })).statusCode, 401);
});

t.test('A change of role, plan or name shows in the next request', async (t) => {
  const alice = await signUpAlice(app);
  t.match(await findCallerByToken(ctx, alice.token), {
    role: 'USER',
    plan: 'trial',
    trialEndsAt: new Date(START.getTime() + 14 * DAY),
  });
  await ctx.db.update(users).set({ role: 'ADMIN', plan: 'pro', name: 'Alicia', trialEndsAt: null });
  t.match(await findCallerByToken(ctx, alice.token), { role: 'ADMIN', plan: 'pro', name: 'Alicia', trialEndsAt: null });
});

t.test('The last use is written once a minute, even for many requests at once', async (t) => {
  const { token } = await signUpAlice(app);
  const lastUsedAt = async () => (await ctx.db.select().from(sessions))[0]?.lastUsedAt;
  clock.advance(59_999);
  await findCallerByToken(ctx, token);
  t.same(await lastUsedAt(), START);
  clock.advance(1);
  const callers = await Promise.all(Array.from({ length: 40 }, () => findCallerByToken(ctx, token)));
  t.ok(callers.every((caller) => caller !== null));
  t.same(await lastUsedAt(), new Date(START.getTime() + 60_000));
  clock.advance(30_000);
  await findCallerByToken(ctx, token);
  t.same(await lastUsedAt(), new Date(START.getTime() + 60_000));
});

t.test('A missing token is not looked up in the database', async (t) => {
  const { ctx, close } = await testContext(t);
  await close();
  t.equal(await findCallerByToken(ctx, null), null);
  t.equal(await findCallerByToken(ctx, 'x'), null);
});

t.test('A session cannot be opened for a deleted account', async (t) => {
  const opening = openSession(ctx, 999_999);
  await t.rejects(opening, { name: 'AppError', message: 'This account has been deleted.' });
});
