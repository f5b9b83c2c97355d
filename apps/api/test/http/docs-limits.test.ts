import t from 'tap';
import { OTHER, PUBLIC, RATES } from '../../src/limits/rates.ts';
import { routesOf } from '../support/conformance.ts';
import { testContext } from '../support/context.ts';

interface Operation {
  responses: Record<string, { headers?: Record<string, { $ref: string }> }>;
  'x-rate-limit'?: { limit: number; windowSeconds: number; scope: string };
}

const HEADERS = ['Limit', 'Remaining', 'Reset', 'Window', 'Policy'].map((word) => `X-RateLimit-${word}`);

const { app } = await testContext(t);
const document = (await app.inject('/api/docs/json')).json();
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

t.test('every limited operation says so: its limit, its 429 and the headers of each response', async (t) => {
  let limited = 0;
  for (const { path, method, operation } of operations) {
    const url = path.replace(/\{(\w+)\}/g, ':$1');
    const route = routesOf(app).find((one) => one.method === method.toUpperCase() && one.url === url);
    const { rate } = route?.config ?? {};
    if (!rate) {
      t.equal(operation['x-rate-limit'], undefined, `${method} ${path}`);
      continue;
    }
    limited += 1;
    const { limit, windowSeconds, scope } = rate;
    t.same(operation['x-rate-limit'], { limit, windowSeconds, scope }, `${method} ${path}`);
    t.ok(operation.responses[429], `${method} ${path} may answer 429`);
    for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
      t.same(Object.keys(headers).sort(), [...(status === '429' ? ['Retry-After'] : []), ...HEADERS].sort());
    }
  }
  t.ok(limited > 15);
});

t.test('a wrong scheduler secret may be answered with 429', async (t) => {
  const cron = operations.find(({ path }) => path === '/api/cron/scheduler')?.operation;
  t.ok(cron?.responses[429]?.headers?.['Retry-After']);
  t.equal(cron?.responses[200]?.headers, undefined);
});

t.test('the headers that are referred to are described', async (t) => {
  for (const name of ['Retry-After', ...HEADERS]) {
    t.match(document.components.headers[name], { description: /\S/, schema: { type: /integer|string/ } }, name);
  }
});

t.test('nothing is limited by a rate that the table does not know', async (t) => {
  const known = new Set([...RATES, OTHER, PUBLIC]);
  for (const { url, config } of routesOf(app)) if (config?.rate) t.ok(known.has(config.rate), url);
});
