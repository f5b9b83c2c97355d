import t from 'tap';
import {
  CLIENT_REGISTRATIONS,
  MCP_REQUESTS,
  OTHER_ENDPOINTS,
  PUBLIC_ENDPOINTS,
  RATE_LIMITS,
} from '../../src/platform/limits/rates.ts';
import { testContext } from '../support/context.ts';
import { listRoutes } from '../support/contract/conformance.ts';
import { readServedDocument } from '../support/contract/served-document.ts';

interface Operation {
  operationId: string;
  responses: Record<string, { headers?: Record<string, { $ref: string }> }>;
  'x-rate-limit'?: { limit: number; windowSeconds: number; scope: string };
}

const HEADERS = ['Limit', 'Remaining', 'Reset', 'Window', 'Policy'].map((word) => `X-RateLimit-${word}`);

const { app } = await testContext(t);
const document = await readServedDocument(app);
const operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
  ([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

t.test('a limited operation has its limit, a 429 response, and rate limit headers on every response', async (t) => {
  let limited = 0;
  for (const { path, method, operation } of operations) {
    const url = path.replace(/\{(\w+)\}/g, ':$1');
    const route = listRoutes(app).find((one) => one.method === method.toUpperCase() && one.url === url);
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
      for (const name of HEADERS) t.same(headers[name], { $ref: `#/components/headers/${name}` }, name);
      const isInProgress = status === '409' && 422 in operation.responses;
      t.equal('Retry-After' in headers, ['429', '503'].includes(status) || isInProgress, `${method} ${path} ${status}`);
    }
  }
  t.ok(limited > 15);
});

t.test('a wrong scheduler secret can be answered with 429', async (t) => {
  const cron = operations.find(({ path }) => path === '/api/cron/scheduler')?.operation;
  t.ok(cron?.responses[429]?.headers?.['Retry-After']);
  t.same(Object.keys(cron?.responses[200]?.headers ?? {}), ['X-Request-ID', 'X-Next-Due-At']);
});

t.test('the description of an operation states its limit and whether it is shared', async (t) => {
  const sentence = (path: string, method: string) => document.paths[path][method].description.split('\n\n')[1];
  t.equal(sentence('/api/agent/create-task', 'post'), 'Limit: 10 requests a minute per user.');
  t.equal(sentence('/api/coupons/activate', 'post'), 'Limit: 5 requests an hour per user.');
  t.equal(
    sentence('/api/auth/login', 'post'),
    'Limit: 5 requests in 15 minutes per IP address and e-mail address, and 300 a minute per IP address.',
  );
  t.equal(
    sentence('/api/notifications', 'get'),
    'Limit: 100 requests a minute per user, shared by all operations without a limit of their own.',
  );
  t.equal(sentence('/api/health', 'get'), 'Not limited.');
});

t.test('every referenced header is described', async (t) => {
  const names = operations.flatMap(({ operation }) =>
    Object.values(operation.responses).flatMap(({ headers = {} }) => Object.values(headers).map(({ $ref }) => $ref)),
  );
  for (const name of new Set(names.filter(Boolean).map((reference) => reference.split('/').at(-1) ?? ''))) {
    t.match(document.components.headers[name], { description: /\S/, schema: { type: /integer|string/ } }, name);
  }
});

t.test('every response has X-Request-ID, and session responses have their own headers', async (t) => {
  const headersOf = (id: string, status: number) =>
    Object.keys(
      operations.find(({ operation }) => operation.operationId === id)?.operation.responses[status]?.headers ?? {},
    );
  for (const { operation } of operations) {
    for (const { headers = {} } of Object.values(operation.responses)) t.ok('X-Request-ID' in headers);
  }
  t.ok(headersOf('login', 200).includes('Set-Cookie'));
  t.ok(headersOf('logout', 200).includes('Set-Cookie'));
  t.notOk(headersOf('login', 401).includes('Set-Cookie'));
  t.ok(headersOf('getUser', 401).includes('WWW-Authenticate'));
  t.ok(headersOf('startOAuth', 302).includes('Location'));
});

t.test('every rate of a route is in the table of rate limits', async (t) => {
  const known = new Set([...RATE_LIMITS, CLIENT_REGISTRATIONS, MCP_REQUESTS, OTHER_ENDPOINTS, PUBLIC_ENDPOINTS]);
  for (const { url, config } of listRoutes(app)) if (config?.rate) t.ok(known.has(config.rate), url);
});
