import { connect } from '@carillon/db';
import t from 'tap';
import { buildApp } from '../../../src/entry/app.ts';
import { testContext } from '../../support/context.ts';

const { app, ctx } = await testContext(t);

t.test('A process is live without its database and with a stuck worker', async (t) => {
  const { db, close } = connect('postgres://127.0.0.1:1/nothing');
  t.teardown(close);
  const alone = await buildApp({ ...ctx, db, worker: { ...ctx.worker, isAlive: () => false } });
  t.teardown(() => alone.close());
  for (const process of [app, alone]) {
    const response = await process.inject('/api/health/live');
    t.equal(response.statusCode, 200);
    t.same(response.json(), { status: 'live' });
  }
});

t.test('HEAD /api/health/live is answered', async (t) => {
  const response = await app.inject({ method: 'HEAD', url: '/api/health/live' });
  t.equal(response.statusCode, 200);
  t.equal(response.body, '');
});
