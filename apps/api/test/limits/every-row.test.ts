import { connect } from '@carillon/db';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';
import t from 'tap';
import { buildApp } from '../../src/entry/app.ts';
import { OTHER_ENDPOINTS, PUBLIC_ENDPOINTS, RATE_LIMITS, type RateLimit } from '../../src/platform/limits/rates.ts';
import { testContext } from '../support/context.ts';
import { buildLimitedRequest, type CallerWithAddress, createCaller } from '../support/rate-limits.ts';

/** Two instances of the service over one database, each with its own pool. */
const { app, ctx, clock, databaseUrl } = await testContext(t, {
  env: { RATE_LIMIT_MULTIPLIER: '1' },
});
const { db, close } = connect(databaseUrl, { max: 10 });
const second = await buildApp({ ...ctx, db });
t.teardown(async () => {
  await second.close();
  await close();
});

/** The two shared counters, each with an endpoint that has no row. */
const SHARED: [RateLimit, example: string][] = [
  [OTHER_ENDPOINTS, 'GET /api/user'],
  [PUBLIC_ENDPOINTS, 'GET /api/auth/validate-reset-token'],
];
const CASES = [...RATE_LIMITS.map((rate): [RateLimit, string] => [rate, rate.bucket]), ...SHARED];

const ask = (to: FastifyInstance, [{ scope }, bucket]: [RateLimit, string], caller: CallerWithAddress) =>
  to.inject(buildLimitedRequest({ bucket, scope }, caller));
const policyOf = ({ scope }: RateLimit) =>
  ({ user: 'user', admin: 'user', ip: 'ip', 'ip+email': 'endpoint', 'ip+token': 'endpoint' })[scope];
const callerOf = ({ scope }: RateLimit) => createCaller(app, scope === 'admin' ? { role: 'ADMIN' } : {});

function limitHeaders({ headers }: LightMyRequestResponse) {
  return {
    limit: headers['x-ratelimit-limit'],
    remaining: headers['x-ratelimit-remaining'],
    reset: headers['x-ratelimit-reset'],
    window: headers['x-ratelimit-window'],
    policy: headers['x-ratelimit-policy'],
  };
}

for (const [rate, bucket] of CASES) {
  const { limit, windowSeconds } = rate;
  const tell = (remaining: number, reset: number) => ({
    limit: `${limit}`,
    remaining: `${remaining}`,
    reset: `${reset}`,
    window: `${windowSeconds}`,
    policy: policyOf(rate),
  });

  t.test(`${rate.bucket}: ${limit} requests pass in ${windowSeconds} s, and the next one does not`, async (t) => {
    const caller = await callerOf(rate);
    const reset = ctx.now().getTime() + windowSeconds * 1000;
    for (let i = 1; i <= limit; i++) {
      const response = await ask(i % 2 ? app : second, [rate, bucket], caller);
      if (response.statusCode === 429 || response.headers['retry-after'] !== undefined) t.fail(`${i} was refused`);
      if (i === 1 || i === limit) t.same(limitHeaders(response), tell(limit - i, reset), `headers of ${i}`);
      if (i === 1) clock.advance(1500);
    }
    for (const to of [app, second]) {
      const refused = await ask(to, [rate, bucket], caller);
      t.equal(refused.statusCode, 429);
      t.same(limitHeaders(refused), tell(0, reset));
      const seconds = windowSeconds - 1;
      t.equal(refused.headers['retry-after'], `${seconds}`);
      const message = `Too many requests. Please try again in ${seconds} seconds.`;
      const details = { limit, remaining: 0, reset, resetIn: seconds, retryAfter: seconds };
      const full = { success: false, error: 'Rate limit exceeded', message, details };
      // The inbound webhook path says less, and authentication repeats `retryAfter`.
      const isInbound = rate.bucket === '* /api/webhooks/:userId/:secret';
      const isAuth = bucket.includes('/api/auth/');
      t.same(
        refused.json(),
        isInbound ? { error: full.error, message } : { ...full, ...(isAuth ? { retryAfter: seconds } : {}) },
      );
    }
    const stranger = await callerOf(rate);
    const other = await ask(app, [rate, bucket], stranger);
    t.same(
      [other.statusCode === 429, limitHeaders(other).remaining],
      [false, `${limit - 1}`],
      'other callers are not affected',
    );

    clock.set(new Date(reset - 1));
    t.equal((await ask(second, [rate, bucket], caller)).statusCode, 429, 'until the window ends');
    clock.set(new Date(reset));
    const again = await ask(second, [rate, bucket], caller);
    t.not(again.statusCode, 429);
    t.same(limitHeaders(again), tell(limit - 1, reset + windowSeconds * 1000), 'then a new window begins');
  });

  t.test(`${rate.bucket}: exactly ${limit} concurrent requests pass, over one process and over two`, async (t) => {
    for (const instances of [[app], [app, second]]) {
      const caller = await callerOf(rate);
      const responses = await Promise.all(
        Array.from({ length: limit + 12 }, (_, i) =>
          ask(instances[i % instances.length] as FastifyInstance, [rate, bucket], caller),
        ),
      );
      const passed = responses.filter(({ statusCode }) => statusCode !== 429);
      t.equal(passed.length, limit);
      const remaining = passed.map((response) => Number(limitHeaders(response).remaining)).sort((a, b) => b - a);
      t.same(
        remaining,
        Array.from({ length: limit }, (_, i) => limit - 1 - i),
        'each has another number',
      );
    }
  });
}

t.test('The routes of one row share its counter, those of another do not', async (t) => {
  const caller = await createCaller(app);
  const validate = (tool: string) =>
    app.inject({ method: 'POST', url: `/api/integrations/${tool}/validate`, headers: caller.headers, payload: {} });
  for (let i = 0; i < 5; i++) t.equal((await validate(i % 2 ? 'notes' : 'design')).statusCode, 400);
  for (const tool of ['notes', 'design']) t.equal((await validate(tool)).statusCode, 429);
  t.not((await app.inject({ url: '/api/tasks', headers: caller.headers })).statusCode, 429);
});

t.test('Different tasks share the counter of their row', async (t) => {
  const caller = await createCaller(app);
  const remove = (id: number) => app.inject({ method: 'DELETE', url: `/api/tasks/${id}`, headers: caller.headers });
  for (let id = 1; id <= 10; id++) t.equal((await remove(id)).statusCode, 404);
  t.equal((await remove(11)).statusCode, 429);
});

t.test('All other endpoints of a user share one counter', async (t) => {
  const caller = await createCaller(app);
  const urls = ['/api/user', '/api/auth/sessions', '/api/tasks/1/occurrences'];
  for (let i = 0; i < 100; i++) {
    const response = await app.inject({ url: urls[i % 3] as string, headers: caller.headers });
    if (response.statusCode === 429) t.fail(`${i} was refused`);
  }
  for (const url of urls) t.equal((await app.inject({ url, headers: caller.headers })).statusCode, 429, url);
  t.equal((await app.inject({ url: '/api/tasks', headers: caller.headers })).statusCode, 200);
});
