import { ERROR_CODES, type ErrorCode } from '@carillon/contract';
import { DatabaseUnavailable, notifications } from '@carillon/db';
import { DrizzleQueryError } from 'drizzle-orm';
import t from 'tap';
import { AppError, ERROR_KINDS, type ErrorKind } from '../../src/errors.ts';
import { type ErrorShape, toEnvelope } from '../../src/platform/http/error-handler.ts';
import { testContext } from '../support/context.ts';
import { probeRoute } from '../support/contract/probe-route.ts';

const { app } = await testContext(t, {
  routes: (app) => {
    probeRoute([])(app);
    app.get('/refuse/:kind', { config: { access: 'public' } }, async (request) => {
      const { kind } = request.params as { kind: ErrorKind };
      throw new AppError(kind, 'In plain words.', { why: ['so'] });
    });
    app.get('/gone', { config: { access: 'public' } }, async ({ ctx }) => {
      await ctx.db
        .insert(notifications)
        .values({ userId: 404, kind: 'k', title: 't', message: 'm', createdAt: ctx.now() });
    });
    app.get('/fail', { config: { access: 'public' } }, async () => {
      throw new DrizzleQueryError('select secret_column from users', ['hunter2'], new Error('relation is missing'));
    });
    app.get('/outage', { config: { access: 'public' } }, async () => {
      throw new DrizzleQueryError('select 1', [], new DatabaseUnavailable('ECONNREFUSED', 'connect'));
    });
    app.get('/overrun/:code', { config: { access: 'public' } }, async (request) => {
      const { code } = request.params as { code: string };
      throw new DrizzleQueryError('select 1', [], Object.assign(new Error('from the server'), { code }));
    });
    app.get('/teapot', { config: { access: 'public' } }, async () => {
      throw Object.assign(new Error('internal wording'), { statusCode: 418 });
    });
    app.get('/thrown/text', { config: { access: 'public' } }, async () => {
      throw 'just text';
    });
  },
});

const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });

t.test('Every AppError has the status and the envelope of the specification', async (t) => {
  for (const [kind, { code, label }] of Object.entries(ERROR_KINDS)) {
    const response = await get(`/refuse/${kind}`);
    t.equal(response.statusCode, ERROR_CODES[code].status, kind);
    t.equal(response.headers['x-error-code'], code);
    const message = kind === 'invalid' ? {} : { message: 'In plain words.' };
    const errors = label === undefined ? { error: 'In plain words.' } : { error: label, ...message };
    t.strictSame(response.json(), { success: false, ...errors, details: { why: ['so'] } });
  }
  t.ok((await get('/refuse/unavailable')).headers['retry-after'], 'and 503 says when to come back');
});

t.test('An unexpected error is 500 and reveals nothing', async (t) => {
  for (const url of ['/fail', '/thrown/text']) {
    const response = await get(url);
    t.equal(response.statusCode, 500);
    t.same(Object.keys(response.json()).sort(), ['error', 'message', 'success']);
    t.match(response.json(), { success: false, error: 'Internal server error' });
    t.notMatch(response.body, /secret_column|hunter2|relation|just text|at file/);
    t.ok(response.headers['x-request-id']);
  }
});

t.test('An unavailable database is 503', async (t) => {
  const response = await get('/outage');
  t.equal(response.statusCode, 503);
  t.ok(response.headers['retry-after']);
  t.match(response.json(), { success: false, error: 'Service unavailable', message: String });
});

t.test('A database that is stopping, starting, full or too slow is 503; a rejected value is a bug', async (t) => {
  for (const code of ['57P01', '57P03', '57014', '53300', '08006', '55P03', '25006', '40P01']) {
    t.equal((await get(`/overrun/${code}`)).statusCode, 503, code);
  }
  for (const code of ['23505', '42P01', '22P02', '25P02']) {
    t.equal((await get(`/overrun/${code}`)).statusCode, 500, code);
  }
});

t.test("A plugin's status outside of the specification becomes 400", async (t) => {
  const response = await get('/teapot');
  t.equal(response.statusCode, 400);
  t.notMatch(response.body, /internal wording/);
});

t.test('Unknown routes and wrong methods are 404 with the envelope', async (t) => {
  const tries = [
    ['GET', '/nothing'],
    ['GET', '/api/'],
    ['GET', '/api/health/'],
    ['GET', '/API/health'],
    ['POST', '/api/health'],
    ['PUT', '/probe/1'],
    ['OPTIONS', '/probe/1'],
    ['HEAD', '/api/auth/login'],
    ['TRACE', '/api/health'],
  ] as const;
  for (const [method, url] of tries) {
    const response = await app.inject({ method, url });
    t.equal(response.statusCode, 404, `${method} ${url}`);
    if (method !== 'HEAD') t.match(response.json(), { success: false, error: 'Not found' });
    t.ok(response.headers['x-request-id']);
  }
});

t.test('An id that cannot exist is not found', async (t) => {
  const ids = ['0', '-1', '2147483648', '99999999999999999999', '1.5', '1e3', '0x1', 'abc', '%00', '%20', 'null', '+1'];
  for (const id of [...ids, 'x'.repeat(200)]) {
    const response = await app.inject({ method: 'POST', url: `/probe/${id}`, payload: { name: 'x' } });
    t.equal(response.statusCode, 404, id);
    t.match(response.json(), { success: false, error: 'Not found' });
  }
  const largest = await app.inject({ method: 'POST', url: '/probe/2147483647', payload: { name: 'x' } });
  t.equal(largest.statusCode, 200);
});

t.test('A path that is not UTF-8 is 400, with a request id', async (t) => {
  for (const url of ['/probe/%ff', '/%', '/api/%c0%ae']) {
    const response = await get(url);
    t.equal(response.statusCode, 400, url);
    t.match(response.json(), { success: false, error: 'Invalid address' });
    t.ok(response.headers['x-request-id']);
  }
});

t.test("The caller's request id is used if it is short and printable", async (t) => {
  const idOf = async (id: string) => (await get('/api/health', { 'x-request-id': id })).headers['x-request-id'];
  t.equal(await idOf('req-7:a/b'), 'req-7:a/b');
  t.equal(await idOf('x'.repeat(128)), 'x'.repeat(128));
  for (const id of ['', 'x'.repeat(129), 'a b', 'a\tb', 'é']) t.not(await idOf(id), id);
  t.not(await idOf('a'), await idOf(''), 'a fresh one is unique');
});

t.test('A query string is validated by name', async (t) => {
  const response = await app.inject({ method: 'POST', url: '/probe/1?limit=0', payload: { name: 'x' } });
  t.equal(response.statusCode, 400);
  t.same(response.json().details, { limit: ['must be at least 1'] });
  const twice = await app.inject({ method: 'POST', url: '/probe/1?limit=1&limit=2', payload: { name: 'x' } });
  t.equal(twice.statusCode, 400);
});

t.test('Each error shape has its envelope', async (t) => {
  const refuse = (code: ErrorCode, error: string, rest: object = {}) => ({
    status: ERROR_CODES[code].status,
    code,
    body: { success: false as const, error, ...rest },
  });
  const errors = {
    invalid: refuse('VALIDATION_ERROR', 'Validation error', { details: { a: ['is required'], b: ['is odd'] } }),
    bad: refuse('COUPON_EXPIRED', 'Cupom expirado'),
    anonymous: refuse('AUTH_REQUIRED', 'Unauthorized', { message: 'M' }),
    signature: refuse('INVALID_SIGNATURE', 'Invalid signature'),
    foreign: refuse('INSUFFICIENT_PERMISSIONS', 'Not your file'),
    limited: refuse('RATE_LIMIT_EXCEEDED', 'Rate limit exceeded', { message: 'M', details: {} }),
    away: refuse('SERVICE_UNAVAILABLE', 'Service unavailable', { message: 'M' }),
    broken: refuse('INTERNAL_ERROR', 'Internal server error', { message: 'M' }),
  };
  const show = (name: keyof typeof errors, shape: ErrorShape, isPublic = true) =>
    toEnvelope(errors[name], shape, isPublic);
  const keeps = (name: keyof typeof errors, shape: ErrorShape, isPublic = true) =>
    t.strictSame(show(name, shape, isPublic), errors[name].body, `${name} ${shape}`);
  keeps('bad', 'standard');
  t.strictSame(show('anonymous', 'authenticated'), { authenticated: false });
  keeps('limited', 'authenticated');
  t.strictSame(show('bad', 'valid'), { valid: false, error: 'Cupom expirado' });
  t.strictSame(show('invalid', 'valid'), { valid: false, error: 'a is required; b is odd' });
  keeps('away', 'valid');
  keeps('anonymous', 'valid');
  t.strictSame(show('signature', 'bare'), { error: 'Invalid signature' });
  keeps('anonymous', 'bare', false);
  t.strictSame(show('foreign', 'bare', false), { error: 'Not your file' });
  t.strictSame(show('limited', 'bare'), { error: 'Rate limit exceeded', message: 'M' });
  keeps('limited', 'bare', false);
  t.strictSame(show('broken', 'bare'), { error: 'Internal server error', message: 'M' });
  keeps('invalid', 'bare');
  keeps('away', 'bare');
});

t.test('A request whose account is deleted meanwhile is 401', async (t) => {
  const response = await app.inject('/gone');
  t.equal(response.statusCode, 401, response.body);
  t.match(response.json(), { success: false, error: 'Unauthorized', message: 'This account has been deleted.' });
});

t.test('An unknown route is 404 with any body', async (t) => {
  for (const [type, payload] of [
    ['application/json', '{"broken'],
    ['text/plain', 'hello'],
    ['application/json', ' '.repeat(2 * 1024 * 1024)],
  ] as const) {
    const response = await app.inject({ method: 'POST', url: '/nothing', headers: { 'content-type': type }, payload });
    t.equal(response.statusCode, 404, type);
    t.match(response.json(), { success: false, error: 'Not found' });
  }
});
