import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { loadConfig } from '../../src/config/config.ts';
import { activeSpan, NO_TRACE, openTrace, type Trace } from '../../src/telemetry/tracing.ts';
import { PRODUCTION } from '../support/production.ts';
import { type OtlpServer, startOtlpServer } from '../support/servers/otlp-server.ts';

const LOST = 'spans were lost: the collector did not take them';

async function traceTo({ url }: Pick<OtlpServer, 'url'>, env: Record<string, string> = {}) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const { tracing } = loadConfig({ ...PRODUCTION, OTEL_EXPORTER_OTLP_ENDPOINT: url, ...env });
  const trace = await openTrace(tracing, log);
  const lost = () => lines.filter(({ msg }) => msg === LOST).map(({ spans }) => spans as number);
  return { trace, lines, lost };
}

const endMany = (trace: Trace, count: number) => {
  for (let i = 0; i < count; i++) trace.begin(`span ${i}`, {}).end();
};

t.test('without a collector nothing is recorded, and the work is done all the same', async (t) => {
  const log = pino({ level: 'silent' });
  const trace = await openTrace(loadConfig(PRODUCTION).tracing, log);
  t.equal(trace, NO_TRACE);
  t.equal(await trace.span('x', {}, async () => activeSpan.getStore()), undefined);
});

t.test('spans are nested as the work is, and what is detached is not', async (t) => {
  const otlp = await startOtlpServer(t);
  const { trace } = await traceTo(otlp, {
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20the-key,x-tenant=a%2Cb',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging,service.name=overruled',
  });
  await trace.span('outer', { text: 'x'.repeat(2000), left: undefined }, async () => {
    await delay(1);
    await trace.span('inner', { yes: true, float: 0.5, negative: -7 }, async () => {});
    await trace.detached(() => trace.span('apart', {}, async () => {}));
    trace.mark('cause');
  });
  await trace.span('linked', {}, async () => {}, { causedBy: 'cause' });
  await trace.span('unlinked', {}, async () => {}, { causedBy: 'nobody knows' });
  const error = new TypeError('the words of an error');
  await t.rejects(
    trace.span('failing', {}, () => Promise.reject(error)),
    error,
  );
  await trace.close();
  const outer = otlp.span('outer');
  t.equal(String(outer.attributes.text).length, 500, 'no value is longer');
  t.notOk('left' in outer.attributes);
  t.match(otlp.span('inner'), { parentId: outer.spanId, traceId: outer.traceId });
  t.same(otlp.span('inner').attributes, { yes: true, float: 0.5, negative: -7 });
  t.equal(otlp.span('apart').parentId, null);
  t.match(otlp.span('linked'), { parentId: null, links: [outer.spanId] });
  t.same(otlp.span('unlinked').links, []);
  const failed = { isFailed: true, message: '', events: 0, attributes: { 'error.type': 'TypeError' } };
  t.match(otlp.span('failing'), failed);
  t.match(outer.resource, { 'service.name': 'carillon', 'deployment.environment.name': 'staging' });
  t.match(otlp.requests, [{ path: '/v1/traces', headers: { authorization: 'Bearer the-key', 'x-tenant': 'a,b' } }]);
});

t.test('the standard samplers decide what is kept', async (t) => {
  const otlp = await startOtlpServer(t);
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const keptBy = async (OTEL_TRACES_SAMPLER: string, OTEL_TRACES_SAMPLER_ARG = '1') => {
    otlp.spans.length = 0;
    const { trace } = await traceTo(otlp, { OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG });
    for (let i = 0; i < 400; i++) trace.begin('own', {}).end();
    trace.begin('continued', {}, { traceparent }).end();
    await trace.close();
    return otlp.spans.length;
  };
  t.equal(await keptBy('always_on'), 401);
  t.equal(await keptBy('always_off'), 0);
  t.equal(await keptBy('parentbased_always_off'), 1);
  t.equal(await keptBy('parentbased_traceidratio', '0'), 1);
  const half = await keptBy('traceidratio', '0.5');
  t.ok(half > 100 && half < 300, `${half} of 401`);
});

t.test('a collector that hangs keeps nobody waiting: what does not fit is dropped and counted', async (t) => {
  const otlp = await startOtlpServer(t);
  otlp.answer('hang');
  const { trace, lost } = await traceTo(otlp);
  const count = 20_000;
  endMany(trace, count);
  t.same(lost(), [1], 'the first one is told at once');
  const closed = trace.close().then(() => 'closed');
  t.equal(await Promise.race([closed, delay(9000, 'it waited for the collector', { ref: false })]), 'closed');
  t.equal(lost().length, 2, 'the others are told once');
  t.equal(
    lost().reduce((sum, spans) => sum + spans),
    count,
  );
});

t.test('one that is away or refuses is told of in the log, without what it says', async (t) => {
  const away = createServer();
  await new Promise<void>((resolve) => away.listen(0, '127.0.0.1', resolve));
  const { port } = away.address() as { port: number };
  await new Promise((resolve) => away.close(resolve));
  const gone = await traceTo({ url: `http://127.0.0.1:${port}` });
  endMany(gone.trace, 10);
  await gone.trace.close();
  t.same(gone.lost(), [10]);

  const otlp = await startOtlpServer(t);
  otlp.answer(401);
  const refused = await traceTo(otlp, { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=the-key' });
  endMany(refused.trace, 10);
  await refused.trace.close();
  t.same(refused.lost(), [10]);
  t.notMatch(JSON.stringify(refused.lines), /the-key/);
});

t.test('causes are remembered, but not all of them for ever', async (t) => {
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
