import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { ExchangeRequest } from '../../src/lib/egress/exchange.ts';
import { createOperatorClient } from '../../src/lib/egress/operator-client.ts';
import { startAiServer } from '../support/servers/ai-server.ts';
import { startProbeServer } from '../support/servers/probe-servers.ts';

const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Name a moon.' }] });

interface Test {
  after: (work: () => Promise<void>) => void;
}

/** Posts to this address. */
function createPost(t: Test, url: string) {
  const client = createOperatorClient({ connectMs: 5000 });
  t.after(() => client.close());
  const { origin, pathname: path } = new URL(url);
  const headers = { 'content-type': 'application/json' };
  return (signal = new AbortController().signal, options: Partial<ExchangeRequest> = {}) =>
    client.request({
      origin,
      path,
      method: 'POST',
      headers,
      body,
      signals: [signal],
      timeoutMs: 5000,
      maxBytes: 1024 * 1024,
      ...options,
    });
}

t.test('A request that is aborted while it waits for its connection is never sent', async (t) => {
  const server = await startAiServer();
  t.after(() => server.close());
  const post = createPost(t, `${server.url}/chat/completions`);
  const stop = new AbortController();
  const stopped = post(stop.signal);
  stop.abort();
  t.strictSame(await stopped, { end: 'aborted', status: null, sent: false, error: null });
  for (let call = 0; call < 3; call += 1) t.match(await post(), { end: 'complete', status: 200, sent: true });
  t.equal(server.requests.length, 3);
});

t.test('A request that is aborted after it was sent closes its connection, so that the server can stop', async (t) => {
  const arrived = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const server = createServer((_, response) => {
    response.on('close', left.resolve);
    arrived.resolve();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  const stop = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const stopped = createPost(t, url)(stop.signal);
  await arrived.promise;
  stop.abort();
  t.match(await stopped, { end: 'aborted', sent: true });
  await left.promise;
});

t.test('A signal that outlives many requests collects no listeners', async (t) => {
  const server = await startAiServer();
  t.after(() => server.close());
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners += 1;
    addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners -= 1;
    removeEventListener.apply(signal, given);
  };
  const post = createPost(t, `${server.url}/chat/completions`);
  for (let call = 0; call < 3; call += 1) await post(signal);
  t.equal(listeners, 0);
});

t.test('A body is read up to maxBytes, and no further than its reader wants', async (t) => {
  const receiver = await startProbeServer(t, (_, response) => response.end(Buffer.alloc(1000)));
  const post = createPost(t, `http://127.0.0.1:${receiver.port}/`);
  t.match(await post(undefined, { maxBytes: 1000 }), { end: 'complete', status: 200 });
  t.match(await post(undefined, { maxBytes: 999 }), { end: 'too_large', status: 200 });
  t.match(await post(undefined, { onData: () => true }), { end: 'stopped', status: 200 });
});

t.test('A closed client sends nothing', async (t) => {
  const receiver = await startProbeServer(t, (_, response) => response.end());
  const client = createOperatorClient({ connectMs: 1000 });
  await client.close();
  t.ok(client.closed);
  const origin = `http://127.0.0.1:${receiver.port}`;
  const request = { origin, path: '/', method: 'GET', headers: {}, timeoutMs: 1000, maxBytes: 1 } as const;
  t.match(await client.request(request), { end: 'aborted', sent: false });
  t.equal(receiver.connections, 0);
});
