import t from 'tap';
import { testContext } from '../support/context.ts';

t.test('The client address comes from the configured proxies only', async (t) => {
  const askFor = async (TRUST_PROXY: string, forwarded: string) => {
    const { app, close } = await testContext(t, {
      env: { TRUST_PROXY },
      routes: (app) => app.get('/ip', { config: { access: 'public' } }, async ({ ip }) => ({ ip })),
    });
    const response = await app.inject({ url: '/ip', headers: { 'x-forwarded-for': forwarded } });
    await close();
    return response.json().ip;
  };
  t.equal(await askFor('false', '203.0.113.9'), '127.0.0.1');
  t.equal(await askFor('10.0.0.0/8', '203.0.113.9'), '127.0.0.1');
  t.equal(await askFor('127.0.0.1', '203.0.113.9'), '203.0.113.9');
  t.equal(
    await askFor('127.0.0.0/8, 10.0.0.0/8', '6.6.6.6, 203.0.113.9, 10.1.2.3'),
    '203.0.113.9',
    'the left-most is the word of the client',
  );
});
