import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import t, { type Test } from 'tap';
import { testContext } from '../support/context.ts';
import { signUpAlice } from '../support/people.ts';
import { startOtlpServer } from '../support/servers/otlp-server.ts';

/** An application with its own routes, whose spans can be read after it is closed. */
async function traced(t: Test, env: Record<string, string> = {}) {
  const otlp = await startOtlpServer(t);
  const held = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const test = await testContext(t, {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url, ...env },
    routes: (app) => {
      const config = { access: 'public' } as const;
      app.post('/echo/:secret', { config }, async ({ body, log }) => {
        log.info('in the handler');
        return body;
      });
      app.get('/broken', { config }, async () => {
        throw new Error('the words of a bug');
      });
      app.get('/held', { config }, async () => {
        arrived.resolve();
        await held.promise;
        return {};
      });
    },
  });
  return { ...test, otlp, held, arrived: arrived.promise };
}

t.test('The response, log lines and span of a request have its id', async (t) => {
  const { app, ctx, otlp, logged } = await traced(t);
  const headers = { 'x-request-id': 'the-one' };
  const response = await app.inject({ method: 'POST', url: '/echo/hidden?also=hidden', headers, payload: { a: 1 } });
  await ctx.trace.close();
  t.equal(response.headers['x-request-id'], 'the-one');
  const span = otlp.span('POST /echo/:secret');
  t.same(span.attributes, {
    'http.request.method': 'POST',
    'http.route': '/echo/:secret',
    'url.scheme': 'http',
    'carillon.request_id': 'the-one',
    'http.response.status_code': 200,
  });
  t.match(span, { kind: 'server', parentId: null, isFailed: false });
  const { traceId, spanId } = span;
  // One is logged after the body was read, the other after the answer was sent: both keep the context.
  for (const msg of ['in the handler', 'request']) {
    const lines = logged.filter((line) => line.msg === msg);
    t.match(lines, [{ requestId: 'the-one', traceId, spanId }], msg);
  }
});

t.test('Concurrent requests have separate spans', async (t) => {
  const { app, ctx, otlp, logged } = await traced(t);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/echo/x`;
  const ids = Array.from({ length: 50 }, (_, i) => `request-${i}`);
  await Promise.all(
    ids.map(async (id) => {
      const headers = { 'x-request-id': id, 'content-type': 'application/json' };
      const response = await fetch(url, { method: 'POST', headers, body: '{}' });
      await response.text();
    }),
  );
  await app.close();
  await ctx.trace.close();
  t.equal(otlp.spans.length, 50);
  for (const { traceId, attributes } of otlp.spans) {
    const lines = logged.filter(({ requestId }) => requestId === attributes['carillon.request_id']);
    t.same(
      lines.map((line) => line.traceId),
      [traceId, traceId],
    );
  }
});

t.test('A valid trace of the caller is continued', async (t) => {
  const { app, ctx, otlp } = await traced(t);
  const trace = '0af7651916cd43dd8448eb211c80319c';
  const ask = (traceparent: string) => app.inject({ url: '/', headers: { traceparent, 'x-request-id': traceparent } });
  const good = `00-${trace}-b7ad6b7169203331-01`;
  await ask(good);
  const bad = ['nonsense', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, `ff-${trace}-b7ad6b7169203331-01`];
  for (const traceparent of bad) await ask(traceparent);
  await ask(`00-${trace}-00f067aa0ba902b7-00`);
  await ctx.trace.close();
  const spanOf = (id: string) => otlp.spans.find(({ attributes }) => attributes['carillon.request_id'] === id);
  t.match(spanOf(good), { traceId: trace, parentId: 'b7ad6b7169203331' });
  for (const traceparent of bad) t.match(spanOf(traceparent), { parentId: null });
  t.equal(otlp.spans.length, 4, 'the caller of the last one keeps no traces');
});

t.test('Unknown routes, client errors and failures have different spans, and a bug has only its status', async (t) => {
  const { app, ctx, otlp } = await traced(t);
  const alice = await signUpAlice(app);
  await app.inject({ url: '/api/user', headers: alice.headers });
  await app.inject({ url: '/unknown/secret' });
  await app.inject({ url: '/api/auth/session' });
  await app.inject({ url: '/broken' });
  await ctx.trace.close();
  t.match(otlp.span('GET /api/user'), { isFailed: false, attributes: { 'carillon.user_id': alice.id } });
  const unknown = otlp.span('GET');
  t.match(unknown, { isFailed: false, attributes: { 'http.response.status_code': 404 } });
  t.notOk('http.route' in unknown.attributes);
  t.match(otlp.span('GET /api/auth/session'), { isFailed: false, attributes: { 'http.response.status_code': 401 } });
  const broken = otlp.span('GET /broken');
  t.match(broken, { isFailed: true, message: '', events: 0, attributes: { 'error.type': '500' } });
});

t.test('The span of a client that disconnects ends', async (t) => {
  const { app, ctx, otlp, held, arrived } = await traced(t);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const hungUp = once(app.server, 'connection').then(([own]) => once(own, 'close'));
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET /held HTTP/1.1\r\nhost: carillon\r\n\r\n');
  await arrived;
  socket.destroy();
  await hungUp;
  held.resolve();
  await app.close();
  await ctx.trace.close();
  t.match(otlp.span('GET /held'), { isFailed: true, attributes: { 'error.type': 'client_closed' } });
});
