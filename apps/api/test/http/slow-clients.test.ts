import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { TIMEOUTS } from '../../src/platform/http/server.ts';
import { testContext } from '../support/context.ts';
import { probeRoute } from '../support/contract/probe-route.ts';

const reached: unknown[] = [];
const timeouts = { headersMs: 400, requestMs: 800, checkMs: 100 };
const { app } = await testContext(t, { timeouts, routes: probeRoute(reached) });
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as { port: number };

/** Sends `head`, then a byte every 50 ms while the server reads. Returns how it ended, and after how long. */
async function drip(head: string): Promise<{ answer: string; ms: number }> {
  const socket: Socket = connect(port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk)).on('error', () => {});
  const began = performance.now();
  const closed = closeOf(socket);
  socket.write(head);
  while (!socket.destroyed && performance.now() - began < 10_000) {
    await Promise.race([wait(50), closed]);
    if (socket.writable && received.length === 0) socket.write('x');
  }
  socket.destroy();
  return { answer: Buffer.concat(received).toString(), ms: performance.now() - began };
}

/** For a connection that may be reset, where `once` would reject. */
const closeOf = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()));

t.test('A client that sends its headers too slowly is disconnected in time', async (t) => {
  const { answer, ms } = await drip('GET /api/health HTTP/1.1\r\nHost: x\r\nX-Slow: ');
  t.ok(ms < 2000, `${Math.round(ms)} ms`);
  t.match(answer, /^HTTP\/1\.1 408 [\s\S]*X-Request-ID: [\s\S]*"success":false/);
});

t.test('A client that sends its body too slowly is disconnected in time', async (t) => {
  const head = 'POST /probe/1 HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{';
  const { ms } = await drip(head);
  t.ok(ms < 2000, `${Math.round(ms)} ms`);
  t.same(reached, []);
});

t.test('The default timeouts let 16 MiB through a slow connection', async (t) => {
  t.same([app.server.headersTimeout, app.server.requestTimeout], [timeouts.headersMs, timeouts.requestMs]);
  t.ok(TIMEOUTS.headersMs < TIMEOUTS.requestMs && TIMEOUTS.requestMs <= 120_000 && TIMEOUTS.checkMs <= 1000);
});

t.test('Bytes that are not HTTP are answered with an error and a request id', async (t) => {
  const send = async (text: string) => {
    const socket = connect(port, '127.0.0.1');
    const received: Buffer[] = [];
    socket.on('data', (chunk) => received.push(chunk)).on('error', () => {});
    socket.write(text);
    await closeOf(socket);
    return Buffer.concat(received).toString();
  };
  const cases: [string, RegExp][] = [
    ['nonsense\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', /^HTTP\/1\.1 400 /],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Big: ${'x'.repeat(20_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
  ];
  for (const [text, status] of cases) {
    const answer = await send(text);
    t.match(answer, status);
    t.match(answer, /X-Request-ID: [0-9a-f-]{36}\r\n/);
    t.match(JSON.parse(answer.split('\r\n\r\n')[1] ?? ''), { success: false, error: String });
  }
});
