import { sessions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import t from 'tap';
import { openSession } from '../../src/product/auth/sessions.ts';
import { START, testContext } from '../support/context.ts';
import { findCallerByToken, PASSWORD, signUpAlice, signUpBob } from '../support/people.ts';

const RIGHT = { email: 'alice@example.com', password: PASSWORD };

const { app, ctx, clock } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: '1000' } });
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
});

const logIn = () =>
  app.inject({
    method: 'POST',
    url: '/api/auth/login',
    payload: RIGHT,
    headers: { 'x-request-token': 'true' },
  });
const whoAmI = (headers: Record<string, string>) => app.inject({ url: '/api/auth/session', headers });

t.test('The 11th session ends the oldest', async (t) => {
  const alice = await signUpAlice(app);
  const tokens = [alice.token];
  for (let n = 0; n < 11; n++) {
    clock.advance(1000);
    tokens.push((await logIn()).json().token);
  }
  const alive = await Promise.all(
    tokens.map(async (token) => (await whoAmI({ authorization: `Bearer ${token}` })).statusCode),
  );
  t.same(alive, [401, 401, ...Array(10).fill(200)]);
  t.equal(await ctx.db.$count(sessions), 10);
});

t.test('50 concurrent sign-ins leave exactly 10 valid sessions', async (t) => {
  const alice = await signUpAlice(app);
  clock.advance(1000);
  const answers = await Promise.all(Array.from({ length: 50 }, () => logIn()));
  t.same(new Set(answers.map(({ statusCode }) => statusCode)), new Set([200]));
  t.equal(await ctx.db.$count(sessions, eq(sessions.userId, alice.id)), 10);
  const tokens = [alice.token, ...answers.map((answer) => answer.json().token)];
  const statuses = await Promise.all(
    tokens.map(async (token) => (await whoAmI({ authorization: `Bearer ${token}` })).statusCode),
  );
  t.equal(statuses.filter((status) => status === 200).length, 10);
  t.equal(statuses[0], 401, 'the oldest is gone');
});

t.test('Expired sessions do not count and are deleted', async (t) => {
  const alice = await signUpAlice(app);
  for (let n = 0; n < 9; n++) await logIn();
  clock.advance(8 * 86_400_000);
  await logIn();
  t.equal(await ctx.db.$count(sessions, eq(sessions.userId, alice.id)), 1);
});

t.test('50 sessions opened at once leave exactly 10', async (t) => {
  const alice = await signUpAlice(app);
  const bob = await signUpBob(app);
  clock.advance(1000);
  const opened = await Promise.all(Array.from({ length: 50 }, () => openSession(ctx, alice.id)));
  t.equal(await ctx.db.$count(sessions, eq(sessions.userId, alice.id)), 10);
  const callers = await Promise.all(opened.map(({ token }) => findCallerByToken(ctx, token)));
  t.equal(callers.filter((caller) => caller?.id === alice.id).length, 10);
  t.ok(await findCallerByToken(ctx, bob.token), 'a stranger’s session is not among those that end');
});
