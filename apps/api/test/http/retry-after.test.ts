import { DatabaseUnavailable } from '@carillon/db';
import { DrizzleQueryError } from 'drizzle-orm';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';

let isDown = false;
const { app, clock } = await testContext(t, {
  routes: (app) => {
    app.get('/ask', { config: { access: 'user' } }, async () => {
      if (isDown) throw new DrizzleQueryError('select 1', [], new DatabaseUnavailable('ECONNREFUSED', 'connect'));
      return {};
    });
    app.get('/page', { config: { access: 'public' } }, async () => ({}));
  },
});
const alice = await signUpAlice(app);
const ask = (url = '/ask') => app.inject({ url, headers: alice.headers });

t.test('Retry-After grows with an outage from 1 s to 30 s, and a success ends the outage', async (t) => {
  for (const outage of ['first', 'second']) {
    t.equal((await ask()).statusCode, 200);
    isDown = true;
    for (const [elapsedMs, seconds] of [
      [0, '1'],
      [100, '1'],
      [1900, '2'],
      [5000, '7'],
      [20_000, '27'],
      [60_000, '30'],
    ] as const) {
      clock.advance(elapsedMs);
      const refused = await ask();
      t.equal(refused.statusCode, 503);
      t.equal(refused.headers['retry-after'], seconds, `${outage} outage`);
      t.equal((await ask('/page')).statusCode, 200, 'which proves nothing');
    }
    isDown = false;
  }
});
