import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import t, { type Test } from 'tap';
import { testContext } from '../support/context.ts';
import { until } from '../support/until.ts';

/** Longer than any of these tests, so that nothing is closed by the grace period. */
const FOR_EVER_MS = 600_000;

async function listening(t: Test, keepAliveGraceMs: number, routes?: (app: FastifyInstance) => void) {
  const { app } = await testContext(t, { keepAliveGraceMs, ...(routes && { routes }) });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as { port: number };
  return { app, port };
}

/** A keep-alive connection, as a proxy has. */
async function open(t: Test, port: number) {
  const socket = connect(port, '127.0.0.1');
  t.teardown(() => socket.destroy());
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'connect');
  return {
    socket,
    ask: (path: string) => socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`),
    received: () => text,
    forget: () => {
      text = '';
    },
    closed: once(socket, 'close'),
  };
}

const isRefused = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true));
  });

t.test('A running request is completed during shutdown, with Connection: close', async (t) => {
  const running = Promise.withResolvers<string>();
  let arrived = false;
  const { app, port } = await listening(t, 0, (app) =>
    app.get('/slow', { config: { access: 'public' } }, () => {
      arrived = true;
      return running.promise;
    }),
  );
  const client = await open(t, port);
  client.ask('/slow');
  await until(() => arrived);
  const closed = app.close();
  await until(() => !app.server.listening);
  running.resolve('done');
  await Promise.all([client.closed, closed]);
  t.match(client.received(), /^HTTP\/1\.1 200 [\s\S]*done/);
  t.match(client.received(), /\r\nconnection: close\r\n/i);
});

t.test('An open connection is served during shutdown, and no new one is accepted', async (t) => {
  const { app, port } = await listening(t, FOR_EVER_MS);
  const clients = await Promise.all([open(t, port), open(t, port)]);
  for (const client of clients) {
    client.ask('/api/health');
    await until(() => client.received().endsWith('}'));
    t.match(client.received(), /^HTTP\/1\.1 200 /);
    t.notMatch(client.received(), /\r\nconnection: close\r\n/i);
    client.forget();
  }
  const closed = app.close();
  await until(() => !app.server.listening);
  t.ok(await isRefused(connect(port, '127.0.0.1')));
  for (const client of clients) {
    client.ask('/api/health');
    await client.closed;
    t.match(client.received(), /^HTTP\/1\.1 200 [\s\S]*"ok"/);
    t.match(client.received(), /\r\nconnection: close\r\n/i);
  }
  await closed;
});

t.test('The connection of an earlier stream is served once more after its end', async (t) => {
  const stream = new Readable({ read() {} });
  const { app, port } = await listening(t, FOR_EVER_MS, (app) =>
    app.get('/stream', { config: { access: 'public' } }, (_request, reply) => reply.type('text/plain').send(stream)),
  );
  const client = await open(t, port);
  client.ask('/stream');
  stream.push('first');
  await until(() => client.received().includes('first'));
  const closed = app.close();
  await until(() => !app.server.listening);
  stream.push('last');
  stream.push(null);
  await until(() => client.received().endsWith('0\r\n\r\n'));
  t.match(client.received(), /first[\s\S]*last/);
  client.forget();
  client.ask('/api/health');
  await Promise.all([client.closed, closed]);
  t.match(client.received(), /^HTTP\/1\.1 200 [\s\S]*"ok"/);
});

t.test('An idle connection is closed after the grace period', async (t) => {
  const LINGER_MS = 300;
  const { app, port } = await listening(t, LINGER_MS);
  const client = await open(t, port);
  client.ask('/api/health');
  await until(() => client.received().endsWith('}'));
  const since = performance.now();
  const closed = app.close();
  await Promise.all([client.closed, closed]);
  const ms = performance.now() - since;
  t.ok(ms >= LINGER_MS - 5, `${Math.round(ms)} ms`);
});

t.test('A service that never listened closes', async (t) => {
  const { close } = await testContext(t, { keepAliveGraceMs: FOR_EVER_MS });
  await close();
  t.pass('it has closed');
});
