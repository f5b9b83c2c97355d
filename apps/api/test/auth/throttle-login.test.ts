import { DAY_MS } from '@carillon/contract/primitives';
import { auditLog, rateWindows, users } from '@carillon/db';
import t from 'tap';
import { ACCOUNT_LOGINS } from '../../src/platform/limits/rates.ts';
import { START, testContext } from '../support/context.ts';
import { PASSWORD, signUp } from '../support/people.ts';

const HOME = '203.0.113.7';
/** Below 1, because each guess costs a hash. */
const MULTIPLIER = 0.4;
const LIMIT = 40;

const { app, ctx, clock } = await testContext(t, { env: { RATE_LIMIT_MULTIPLIER: `${MULTIPLIER}` } });
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(users);
  await ctx.db.delete(rateWindows);
  await ctx.db.delete(auditLog);
});

const logIn = (email: string, password: string, remoteAddress: string) =>
  app.inject({ method: 'POST', url: '/api/auth/login', payload: { email, password }, remoteAddress });
/** A botnet: each address guesses once or twice only. */
const besiege = (email: string, guesses = LIMIT) =>
  Promise.all(Array.from({ length: guesses }, (_, i) => logIn(email, 'Wrong-2026', `198.51.100.${i % 40}`)));
const statuses = (answers: { statusCode: number }[]) => Object.groupBy(answers, ({ statusCode }) => statusCode);

t.test('Guesses at one account are limited over all addresses', async (t) => {
  await signUp(app, { email: 'alice@example.com' });
  t.equal(ACCOUNT_LOGINS.limit * MULTIPLIER, LIMIT);
  const answers = [...(await besiege('alice@example.com')), ...(await besiege('ALICE@example.com', 20))];
  t.equal(statuses(answers)[401]?.length, LIMIT);
  t.equal(statuses(answers)[429]?.length, 20);
  const refused = await logIn('alice@example.com', PASSWORD, '192.0.2.1');
  t.equal(refused.statusCode, 429);
  t.match(refused.headers, { 'retry-after': '900', 'x-ratelimit-limit': `${LIMIT}`, 'x-ratelimit-remaining': '0' });
  t.match(refused.json(), {
    error: 'Rate limit exceeded',
    details: { limit: LIMIT, retryAfter: 900 },
    retryAfter: 900,
  });
  clock.advance(15 * 60_000);
  t.equal((await logIn('alice@example.com', PASSWORD, '192.0.2.1')).statusCode, 200);
});

t.test('An address over its own limit does not count against the account', async (t) => {
  await signUp(app, { email: 'alice@example.com' });
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => logIn('alice@example.com', 'Wrong-2026', '198.51.100.1')),
  );
  t.equal(statuses(answers)[429]?.length, 98);
  t.equal((await logIn('alice@example.com', PASSWORD, '192.0.2.1')).statusCode, 200, 'from anywhere else');
});

t.test('The owner can sign in from a network used before', async (t) => {
  await signUp(app, { email: 'alice@example.com' });
  t.equal((await logIn('alice@example.com', PASSWORD, HOME)).statusCode, 200);
  t.equal((await logIn('alice@example.com', PASSWORD, '2001:db8:1:2::5')).statusCode, 200);
  clock.advance(29 * DAY_MS);
  await besiege('alice@example.com');
  t.equal((await logIn('alice@example.com', PASSWORD, '192.0.2.1')).statusCode, 429);
  t.equal((await logIn('alice@example.com', PASSWORD, HOME)).statusCode, 200);
  t.equal((await logIn('alice@example.com', PASSWORD, '2001:db8:1:2:ffff::1')).statusCode, 200, 'or their network');
  t.equal((await logIn('alice@example.com', 'Wrong-2026', HOME)).statusCode, 401, 'with the password, as ever');
});

t.test('A network is familiar for 30 days, and to its own account only', async (t) => {
  await signUp(app, { email: 'alice@example.com' });
  await signUp(app, { email: 'bob@example.com' });
  await logIn('alice@example.com', PASSWORD, HOME);
  await logIn('bob@example.com', PASSWORD, '192.0.2.5');
  await besiege('alice@example.com');
  t.equal((await logIn('alice@example.com', PASSWORD, '192.0.2.5')).statusCode, 429);
  clock.advance(30 * DAY_MS + 1);
  await besiege('alice@example.com');
  t.equal((await logIn('alice@example.com', PASSWORD, HOME)).statusCode, 429);
});

t.test('A password reset makes a network familiar, and requesting one does not', async (t) => {
  const alice = await signUp(app, { email: 'alice@example.com' });
  await besiege('alice@example.com');
  const payload = { email: alice.email };
  await app.inject({ method: 'POST', url: '/api/auth/forgot-password', payload, remoteAddress: '192.0.2.66' });
  t.equal((await logIn(alice.email, PASSWORD, '192.0.2.66')).statusCode, 429);
  const act = { at: START, actorId: alice.id, actorEmail: alice.email, userId: alice.id, details: {} };
  await ctx.db.insert(auditLog).values({ ...act, kind: 'user.password_reset', address: HOME });
  t.equal((await logIn(alice.email, PASSWORD, HOME)).statusCode, 200);
});

t.test('An unknown e-mail address has the same limit', async (t) => {
  const answers = await besiege('nobody@example.com', LIMIT + 20);
  t.equal(statuses(answers)[401]?.length, LIMIT);
  t.equal(statuses(answers)[429]?.length, 20);
  const known = await signUp(app, { email: 'alice@example.com' });
  await besiege(known.email);
  const texts = await Promise.all(['nobody@example.com', known.email].map((email) => logIn(email, 'x', '192.0.2.3')));
  t.equal(texts[0]?.body, texts[1]?.body);
});
