import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createProviderHttp, type Reader } from '../../src/egress/provider-http.ts';
import { startAiServer } from '../support/servers/ai-server.ts';

const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Name a moon.' }] });

/** A POST to this address, whose answer nobody reads. */
function poster(t: { after: (work: () => Promise<void>) => void }, url: string) {
  const http = createProviderHttp();
  t.after(() => http.close());
  const { origin, pathname: path } = new URL(url);
  const headers = { 'content-type': 'application/json' };
  return (signal = new AbortController().signal, reader: Reader = { take: () => null, end: () => null }) => {
    const deadlineAt = performance.now() + 5000;
    return http.post({ origin, path, headers, body, signal, deadlineAt, read: () => reader });
  };
}

t.test('a call stopped while it waits for its connection is never sent', async (t) => {
  const server = await startAiServer();
  t.after(() => server.close());
  const post = poster(t, `${server.url}/chat/completions`);
  const stop = new AbortController();
  const stopped = post(stop.signal);
  stop.abort();
  t.strictSame(await stopped, { kind: 'interrupted', sent: false });
  for (let call = 0; call < 3; call += 1) t.equal(await post(), null);
  t.equal(server.requests.length, 3);
});

t.test('a call stopped under way lets go of its connection, so that the provider can stop too', async (t) => {
  let arrived = () => {};
  const arrival = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  let left = () => {};
  const leaving = new Promise<void>((resolve) => {
    left = resolve;
  });
  const server = createServer((_, response) => {
    response.on('close', left);
    arrived();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  const stop = new AbortController();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const stopped = poster(t, url)(stop.signal);
  await arrival;
  stop.abort();
  t.strictSame(await stopped, { kind: 'interrupted', sent: true });
  await leaving;
});

t.test('a signal that outlives many calls gathers no listeners', async (t) => {
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
  const post = poster(t, `${server.url}/chat/completions`);
  for (let call = 0; call < 3; call += 1) await post(signal);
  t.equal(listeners, 0);
});

t.test('a refusal is read up to 64 KiB', async (t) => {
  const server = await startAiServer();
  t.after(() => server.close());
  server.answer(() => ({ status: 400, body: 'x'.repeat(1_000_000) }));
  const refused = poster(t, `${server.url}/chat/completions`)();
  t.match(await refused, { kind: 'refused', status: 400, body: 'x'.repeat(65_536) });
});
