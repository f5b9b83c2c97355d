import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';

const { app, logged } = await testContext(t, { maxEventLoopDelayMs: 100 });
const alice = await signUpAlice(app);

/** Blocks the event loop except for a moment every 400 ms. */
async function fillLoop(ms: number) {
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const pause = performance.now() + 400;
    while (performance.now() < pause);
    await wait(1);
  }
}

t.test('An overloaded process refuses requests, answers health checks, and recovers by itself', async (t) => {
  t.equal((await app.inject({ url: '/api/user', headers: alice.headers })).statusCode, 200);
  await fillLoop(2500);
  for (const url of ['/api/user', '/', '/api/auth/session', '/nothing']) {
    const refused = await app.inject({ url, headers: alice.headers });
    t.equal(refused.statusCode, 503, url);
    t.match(refused.json(), { success: false, error: 'Service unavailable', message: /overloaded/ });
    t.ok(Number(refused.headers['retry-after']) > 0);
  }
  for (const url of ['/api/health', '/api/health/live', '/api/health/ready']) {
    t.equal((await app.inject(url)).statusCode, 200, url);
  }
  t.equal(
    logged.filter(({ msg }) => msg === 'overloaded: requests are refused').length,
    1,
    'logged once, not per request',
  );
  let status = 503;
  for (let tries = 0; status === 503 && tries < 50; tries++) {
    await wait(100);
    status = (await app.inject({ url: '/api/user', headers: alice.headers })).statusCode;
  }
  t.equal(status, 200);
});
