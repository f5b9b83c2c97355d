import { rateHits, rateWindows, sessions, users } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { InjectOptions } from 'fastify';
import t from 'tap';
import { CRON_SECRET, START, testContext } from '../support/context.ts';
import { signUp } from '../support/people.ts';
import { countAllowed, createCaller, getStatus } from '../support/rate-limits.ts';

const env = { RATE_LIMIT_MULTIPLIER: '1' };
const { app, ctx, clock } = await testContext(t, { env });
t.beforeEach(async () => {
  clock.set(START);
  await ctx.db.delete(rateWindows);
  await ctx.db.delete(users);
});

const unknown = (remoteAddress: string) => ({ url: '/api/nothing', remoteAddress });

t.test('Exempt paths are never counted or refused, even if the address is over its limit', async (t) => {
  t.equal(await countAllowed(app, 601, unknown('127.0.0.1')), 600);
  const asset = (await app.inject('/api/docs/')).body.match(/static\/[\w-]+\.js/)?.[0];
  const paths = [
    '/api/health',
    '/api/health/live',
    '/',
    '/api/docs/json',
    `/api/docs/${asset}`,
    '/images/x.png',
    '/styles/x.css',
  ];
  for (const url of [...paths, '/api/docs', '/api/docs/nothing']) {
    const response = await app.inject(url);
    t.same(
      Object.keys(response.headers).filter((name) => name.startsWith('x-ratelimit')),
      [],
      url,
    );
  }
  for (const url of [...paths, '/api/health/ready']) t.equal(await countAllowed(app, 150, { url }), 150, url);
  t.equal(await countAllowed(app, 150, { method: 'HEAD', url: '/api/health' }), 150);
});

t.test('Unknown routes and wrong methods count by address, as public endpoints', async (t) => {
  const requests: InjectOptions[] = [
    { url: '/api/nothing' },
    { method: 'POST', url: '/api/health', payload: { x: 1 } },
    { method: 'PUT', url: '/api/tasks' },
    { method: 'OPTIONS', url: '/wp-login.php' },
    { url: '/api/docsx?x=/images/' },
    { url: '/api/auth/validate-reset-token?token=x' },
  ];
  t.equal(await countAllowed(app, 620, (i) => requests[i % requests.length] as InjectOptions), 600);
  const refused = await app.inject({ url: '/api/nothing' });
  t.match(refused.json(), { success: false, error: 'Rate limit exceeded', details: { limit: 600 } });
  t.match(refused.headers, { 'x-ratelimit-policy': 'ip', 'x-ratelimit-window': '60', 'retry-after': '60' });
  t.equal(await getStatus(app, { url: '/api/nothing', remoteAddress: '192.0.2.9' }), 404);
});

t.test('A request without a session counts by its address; one with a session does not', async (t) => {
  const alice = await signUp(app);
  const bob = await signUp(app, { name: 'Bob' });
  await ctx.db.delete(sessions).where(eq(sessions.userId, bob.id));
  const carl = await signUp(app, { name: 'Carl' });
  await ctx.db.update(users).set({ isActive: false }).where(eq(users.id, carl.id));
  const tries = [{}, { authorization: 'Bearer wrong' }, bob.headers, carl.headers, { cookie: 'local-session=x' }];
  const seen = new Set<string>();
  for (let i = 0; i < 600; i++) {
    const response = await app.inject({ url: '/api/user', headers: tries[i % tries.length] });
    t.equal(response.headers['x-ratelimit-remaining'], `${599 - i}`);
    const { 'x-request-id': _id, 'x-ratelimit-remaining': _remaining, date: _date, ...headers } = response.headers;
    seen.add(JSON.stringify([response.statusCode, headers, response.body]));
  }
  t.equal(seen.size, 1, 'the answers for an ended session, a deactivated account and nonsense are equal');
  t.match([...seen][0], /^\[401.*"x-ratelimit-policy":"ip"/);
  for (const headers of tries) t.equal(await getStatus(app, { url: '/api/user', headers }), 429);
  const { statusCode, body } = await app.inject({ url: '/api/auth/session' });
  t.match([statusCode, body], [429, /"error":"Rate limit exceeded"/], 'also where the error has a shape of its own');
  const own = await app.inject({ url: '/api/user', headers: alice.headers });
  t.match([own.statusCode, own.headers['x-ratelimit-remaining']], [200, '99'], 'a guesser next door is not in the way');
});

t.test('The scheduler is not limited, and wrong secrets are', async (t) => {
  const url = '/api/cron/scheduler';
  const right = { url, headers: { authorization: `Bearer ${CRON_SECRET}` } };
  for (let i = 0; i < 105; i++) {
    const response = await app.inject(right);
    if (response.statusCode !== 200 || 'x-ratelimit-limit' in response.headers) t.fail(`${i} ${response.statusCode}`);
  }
  const wrong = { url, headers: { authorization: 'Bearer wrong' } };
  t.equal(await countAllowed(app, 610, wrong), 600);
  t.equal(await getStatus(app, { url: '/api/user' }), 429, 'they share the counter of those who do not sign in');
  t.equal(await getStatus(app, right), 200, 'and keep no scheduler out');
});

t.test('An administrator is counted before the role and the key are checked', async (t) => {
  const caller = await createCaller(app);
  const get = { url: '/api/admin/stats', headers: { ...caller.headers, 'x-admin-key': 'guess' } };
  t.equal(await getStatus(app, get), 403);
  t.equal(await countAllowed(app, 70, get), 59, 'guesses at the key are bounded');
});

t.test('The 429s of users are counted by endpoint and day, exactly', async (t) => {
  const alice = await signUp(app);
  const bob = await signUp(app, { name: 'Bob' });
  const get = (url: string, { headers } = alice) => app.inject({ url, headers });
  const many = (count: number, url: string) => Promise.all(Array.from({ length: count }, () => get(url)));
  await many(120, '/api/tasks/1');
  t.same(await ctx.db.select().from(rateHits), [], 'none before the limit');
  await many(30, '/api/tasks/2');
  clock.advance(1000);
  await get('/api/tasks/3');
  await many(100, '/api/user');
  await get('/api/user');
  await get('/api/auth/sessions');
  await get('/api/auth/sessions');
  await many(10, '/api/user').then(() => get('/api/user', bob));
  clock.set('2026-11-21T00:00:00.000Z');
  await many(121, '/api/tasks/1');
  t.equal(await countAllowed(app, 610, unknown('127.0.0.1')), 600, 'strangers have none');

  const found = await ctx.db.select().from(rateHits).orderBy(rateHits.day, rateHits.endpoint);
  const at = new Date(START.getTime() + 1000);
  t.same(found, [
    { userId: alice.id, day: '2026-11-20', endpoint: 'GET /api/auth/sessions', hits: 2, lastHit: at },
    { userId: alice.id, day: '2026-11-20', endpoint: 'GET /api/tasks/:id', hits: 31, lastHit: at },
    { userId: alice.id, day: '2026-11-20', endpoint: 'GET /api/user', hits: 11, lastHit: at },
    { userId: alice.id, day: '2026-11-21', endpoint: 'GET /api/tasks/:id', hits: 1, lastHit: new Date('2026-11-21') },
  ]);
});
