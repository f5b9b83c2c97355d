import t from 'tap';
import { loadConfig } from '../../src/lib/config/config.ts';
import { PRODUCTION_ENV } from '../support/production.ts';

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:4318/';
const loadTracing = (env: Record<string, string>) => loadConfig({ ...PRODUCTION_ENV, ...env }).tracing;

t.test('Tracing is off without a collector', async (t) => {
  t.equal(loadTracing({ OTEL_SERVICE_NAME: 'bells' }), null);
  t.same(loadTracing({ OTEL_EXPORTER_OTLP_ENDPOINT }), {
    url: 'http://127.0.0.1:4318/v1/traces',
    headers: {},
    serviceName: 'carillon',
  });
});

t.test('Headers are percent-decoded', async (t) => {
  const OTEL_EXPORTER_OTLP_HEADERS = ' authorization = Basic%20YTpi==, x-tenant=a%2Cb ,';
  t.match(loadTracing({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS }), {
    headers: { authorization: 'Basic YTpi==', 'x-tenant': 'a,b' },
  });
});

t.test('An invalid setting stops the start, and no error repeats a key', async (t) => {
  const refused: [name: string, value: string][] = [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:the-key@collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://collector:4318/?key=the-key'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'the-key'],
    ['OTEL_EXPORTER_OTLP_HEADERS', '=the-key'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a b=the-key'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=%the-key'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'a=the-key%0d%0ab: c'],
  ];
  for (const [name, value] of refused) {
    try {
      loadTracing({ OTEL_EXPORTER_OTLP_ENDPOINT, [name]: value });
      t.fail(`${name}=${value} is accepted`);
    } catch (error) {
      const { message } = error as Error;
      t.match(message, new RegExp(`^${name} `), value);
      if (name.endsWith('HEADERS')) t.notMatch(message, /the-key/);
    }
  }
});
