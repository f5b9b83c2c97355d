import t from 'tap';
import { START, testContext } from '../../support/context.ts';

const { app } = await testContext(t);

t.test('GET /api/health answers status, time, version and uptime without authentication', async (t) => {
  const response = await app.inject('/api/health');
  t.equal(response.statusCode, 200);
  t.same(Object.keys(response.json()).sort(), ['status', 'timestamp', 'uptime', 'version']);
  t.match(response.json(), {
    status: 'ok',
    timestamp: START.toISOString(),
    version: /^\d+\.\d+\.\d+$/,
    uptime: Number,
  });
  t.ok(Number.isInteger(response.json().uptime), 'in whole seconds');
});

t.test('HEAD /api/health is answered', async (t) => {
  const response = await app.inject({ method: 'HEAD', url: '/api/health' });
  t.equal(response.statusCode, 200);
  t.equal(response.body, '');
});
