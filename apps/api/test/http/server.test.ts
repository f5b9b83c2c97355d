import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { testContext } from '../support/context.ts';

t.test('the client address comes from the proxies that are named, and from nobody else', async (t) => {
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

t.test('while the service stops, what runs is finished, and the client told to go elsewhere', async (t) => {
  let finish = () => {};
  const running = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const { app } = await testContext(t, {
    routes: (app) => app.get('/slow', { config: { access: 'public' } }, async () => running.then(() => 'done')),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((app.server.address() as { port: number }).port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  await wait(50);
  const closed = app.close();
  await wait(50);
  finish();
  await once(socket, 'close');
  await closed;
  const text = Buffer.concat(received).toString();
  t.match(text, /^HTTP\/1\.1 200 [\s\S]*done/);
  t.match(text, /\r\nconnection: close\r\n/);
});
