import { rateWindows } from '@carillon/db';
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { START, testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { countAllowed, getStatus } from '../support/rate-limits.ts';

const env = { RATE_LIMIT_MULTIPLIER: '1' };
const { app, ctx, clock } = await testContext(t, { env });
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(rateWindows);
});

const logIn = (payload: unknown, remoteAddress = '192.0.2.1'): InjectOptions => ({
  method: 'POST',
  url: '/api/auth/login',
  remoteAddress,
  headers: { 'content-type': 'application/json' },
  payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
});

t.test('Spellings of one e-mail address share a limit, other addresses do not', async (t) => {
  const spellings = [
    'a@example.com',
    'A@EXAMPLE.com',
    ' a@example.com',
    'ａ@example.com',
    'a@example.com\n',
    'A@example.com',
  ];
  t.equal(await countAllowed(app, 6, (i) => logIn({ email: spellings[i] })), 5);
  t.equal(await getStatus(app, logIn({ email: 'b@example.com' })), 400);
  t.equal(await getStatus(app, logIn({ email: 'a@example.com' }, '192.0.2.2')), 400);
});

t.test('Invalid requests count too', async (t) => {
  const email = 'a@example.com';
  const bodies = [
    { email },
    { email, password: 7 },
    { email, password: '' },
    { email, extra: 1 },
    { email, password: 'a\0' },
  ];
  for (const body of bodies) t.equal(await getStatus(app, logIn(body)), 400);
  t.equal(await getStatus(app, logIn({ email, password: 'Right-2026' })), 429);
});

t.test('A missing, invalid or empty e-mail address counts as one', async (t) => {
  const bodies = [
    '{}',
    '',
    '[]',
    '"a@example.com"',
    'null',
    '{"email":7}',
    '{"email":null}',
    '{"email":["a@example.com"]}',
  ];
  t.equal(await countAllowed(app, 8, (i) => logIn(bodies[i])), 5);
  t.equal(await getStatus(app, logIn({ email: 'a@example.com' })), 400, 'an address that is given is not affected');
});

t.test('A body that cannot be parsed counts by address', async (t) => {
  const bodies = ['{"email":', '{"email":"a@example.com"', '\ufffe', '{"__proto__":{"email":"x"}}', 'x'];
  const first = await app.inject(logIn(bodies[0]));
  t.match(first.json(), { success: false, error: 'Invalid JSON' });
  t.match(first.headers, { 'x-ratelimit-limit': '300', 'x-ratelimit-remaining': '299', 'x-ratelimit-policy': 'ip' });
  const text = { ...logIn('hello'), headers: { 'content-type': 'text/plain' } };
  t.equal(await countAllowed(app, 309, (i) => (i % 6 ? logIn(bodies[i % 5]) : text)), 299);
  t.equal(await getStatus(app, logIn('{"email":', '192.0.2.2')), 400);
});

t.test('An address cannot try 300 e-mail addresses in a minute', async (t) => {
  t.equal(await countAllowed(app, 310, (i) => logIn({ email: `a${i}@example.com` })), 300);
  const refused = await app.inject(logIn({ email: 'b@example.com' }));
  t.match(refused.headers, { 'x-ratelimit-limit': '300', 'x-ratelimit-window': '60', 'x-ratelimit-policy': 'ip' });
  t.match(refused.json(), { error: 'Rate limit exceeded', retryAfter: 60 });
  clock.advance(60_000);
  t.match((await app.inject(logIn({ email: 'b@example.com' }))).headers, { 'x-ratelimit-limit': '5' });
});

t.test('A 429 costs no validation, no query and no hash', async (t) => {
  const alice = await signUp(app, { email: 'alice@example.com' });
  t.equal(await countAllowed(app, 6, logIn({ email: alice.email, password: 'Wrong-2026' })), 5);
  const began = performance.now();
  const refused = await Promise.all(
    Array.from({ length: 100 }, () => app.inject(logIn({ email: alice.email, password: 'x'.repeat(2000) }))),
  );
  t.ok(refused.every(({ statusCode }) => statusCode === 429));
  t.comment(`100 refusals took ${Math.round(performance.now() - began)} ms`);
});
