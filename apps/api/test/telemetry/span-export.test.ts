import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';
import { createTrace } from '../../src/lib/telemetry/opentelemetry.ts';
import { activeSpan, NO_TRACE, type Trace } from '../../src/lib/telemetry/tracing.ts';
import { testContext } from '../support/context.ts';
import { PRODUCTION_ENV } from '../support/production.ts';
import { type OtlpServer, startOtlpServer } from '../support/servers/otlp-server.ts';

const LOST = 'spans lost: the collector did not accept them';

async function traceTo({ url }: Pick<OtlpServer, 'url'>, env: Record<string, string> = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { tracing } = loadConfig({ ...PRODUCTION_ENV, OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env });
  if (tracing === null) throw new Error('A collector is configured.');
  const trace = createTrace(tracing, log);
  const lost = () => lines.filter(({ msg }) => msg === LOST).map(({ spans }) => spans as number);
  return { trace, lines, lost };
}

const endMany = (trace: Trace, count: number) => {
  for (let i = 0; i < count; i++) trace.begin(`span ${i}`, {}).end();
};

t.test('Without a collector the work runs and no span is recorded', async (t) => {
  const { ctx } = await testContext(t);
  t.equal(ctx.trace, NO_TRACE);
  t.equal(await ctx.trace.span('x', {}, async () => activeSpan.getStore()), undefined);
});

t.test('A span is the child of the active span, except in detached work', async (t) => {
  const otlp = await startOtlpServer(t);
  const { trace } = await traceTo(otlp, {
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20the-key,x-tenant=a%2Cb',
  });
  await trace.span('outer', { text: 'x'.repeat(2000), left: undefined }, async () => {
    await delay(1);
    await trace.span('inner', { yes: true, float: 0.5, negative: -7 }, async () => {});
    await trace.detached(() => trace.span('apart', {}, async () => {}));
    trace.mark('cause');
  });
  await trace.span('linked', {}, async () => {}, { causedBy: 'cause' });
  await trace.span('unlinked', {}, async () => {}, { causedBy: 'an unknown cause' });
  const error = new TypeError('the words of an error');
  await t.rejects(
    trace.span('failing', {}, () => Promise.reject(error)),
    error,
  );
  await trace.close();
  const outer = otlp.span('outer');
  t.equal(String(outer.attributes.text).length, 500, 'values are cut at 500 characters');
  t.notOk('left' in outer.attributes);
  t.match(otlp.span('inner'), { parentId: outer.spanId, traceId: outer.traceId });
  t.same(otlp.span('inner').attributes, { yes: true, float: 0.5, negative: -7 });
  t.equal(otlp.span('apart').parentId, null);
  t.match(otlp.span('linked'), { parentId: null, links: [outer.spanId] });
  t.same(otlp.span('unlinked').links, []);
  const failed = { isFailed: true, message: '', events: 0, attributes: { 'error.type': 'TypeError' } };
  t.match(otlp.span('failing'), failed);
  t.match(outer.resource, { 'service.name': 'carillon' });
  t.match(otlp.requests, [{ path: '/v1/traces', headers: { authorization: 'Bearer the-key', 'x-tenant': 'a,b' } }]);
});

t.test('The caller decides whether its trace is recorded', async (t) => {
  const otlp = await startOtlpServer(t);
  const { trace } = await traceTo(otlp);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0';
  trace.begin('sampled', {}, { traceparent: `${traceparent}1` }).end();
  trace.begin('unsampled', {}, { traceparent: `${traceparent}0` }).end();
  trace.begin('own', {}).end();
  await trace.close();
  t.same(
    otlp.spans.map(({ name }) => name),
    ['sampled', 'own'],
  );
});

t.test('A collector that hangs delays nothing: spans beyond the bound are dropped and counted', async (t) => {
  const otlp = await startOtlpServer(t);
  otlp.answer('hang');
  const { trace, lost } = await traceTo(otlp);
  const count = 20_000;
  endMany(trace, count);
  t.same(lost(), [1], 'the first loss is logged at once');
  const closed = trace.close().then(() => 'closed');
  t.equal(await Promise.race([closed, delay(9000, 'it waited for the collector', { ref: false })]), 'closed');
  t.equal(lost().length, 2, 'the others are logged together');
  t.equal(
    lost().reduce((sum, spans) => sum + spans),
    count,
  );
});

t.test('A collector that is down or rejects spans is logged without its answer', async (t) => {
  const down = createServer();
  await new Promise<void>((resolve) => down.listen(0, '127.0.0.1', resolve));
  const { port } = down.address() as { port: number };
  await new Promise((resolve) => down.close(resolve));
  const unreachable = await traceTo({ url: `http://127.0.0.1:${port}` });
  endMany(unreachable.trace, 10);
  await unreachable.trace.close();
  t.same(unreachable.lost(), [10]);

  const otlp = await startOtlpServer(t);
  otlp.answer(401);
  const refused = await traceTo(otlp, { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=the-key' });
  endMany(refused.trace, 10);
  await refused.trace.close();
  t.same(refused.lost(), [10]);
  t.notMatch(JSON.stringify(refused.lines), /the-key/);
});

t.test('The last 10,000 causes are remembered', async (t) => {
  const otlp = await startOtlpServer(t);
  const { trace } = await traceTo(otlp);
  await trace.span('cause', {}, async () => {
    for (let i = 0; i <= 10_000; i++) trace.mark(`work ${i}`);
    trace.mark('delivery', 'work 5');
  });
  trace.begin('first', {}, { causedBy: 'work 0' }).end();
  trace.begin('last', {}, { causedBy: 'work 10000' }).end();
  trace.begin('passed on', {}, { causedBy: 'delivery' }).end();
  await trace.close();
  t.same(otlp.span('first').links, []);
  t.same(otlp.span('last').links, [otlp.span('cause').spanId]);
  t.same(otlp.span('passed on').links, [otlp.span('cause').spanId]);
});
