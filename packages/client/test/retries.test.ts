import t from 'tap';
import { ApiError, ConflictError, RateLimitError, UnavailableError } from '../src/index.ts';
import { parseRetryAfter } from '../src/waiting.ts';
import { catchError, cutBody, fail, html, json, ok, reset, startServer } from './hostile-server.ts';

// Most of the time is spent waiting before repeating.
t.jobs = 20;

const TEMPORARY = {
  408: fail(408),
  429: fail(429),
  502: html(502),
  503: fail(503),
  504: html(504),
  'a reset connection': reset,
  'a cut body': cutBody,
};
const keyed = { idempotencyKey: 'nightly-7', body: { name: 'x' } };

t.test('A GET and a DELETE are repeated after temporary failures', async (t) => {
  await Promise.all(
    Object.entries(TEMPORARY).map(async ([what, handler]) => {
      const { carillon, received } = await startServer(t, handler, ok);
      t.same(await carillon.tasks.get(7), { success: true }, what);
      t.equal(received.length, 2, what);
    }),
  );
  const { carillon, received } = await startServer(t, fail(503), ok);
  await carillon.tasks.delete(7);
  t.same(
    received.map(({ method }) => method),
    ['DELETE', 'DELETE'],
  );
});

t.test('A POST with an idempotency key is repeated with the same key and body', async (t) => {
  await Promise.all(
    Object.entries(TEMPORARY).map(async ([what, handler]) => {
      const { carillon, received } = await startServer(t, handler, ok);
      await carillon.request('POST', '/api/tasks', keyed);
      t.match(
        received,
        [{ headers: { 'idempotency-key': 'nightly-7' }, body: '{"name":"x"}' }, received[0] ?? {}],
        what,
      );
      t.equal(received.length, 2, what);
    }),
  );
});

t.test('A request that is not idempotent and has no key is sent once', async (t) => {
  await Promise.all(
    Object.entries(TEMPORARY).map(async ([what, handler]) => {
      const { carillon, received } = await startServer(t, handler, ok);
      await t.rejects(carillon.request('POST', '/api/tasks', { body: {} }), what);
      await t.rejects((await startServer(t, handler, ok)).carillon.tasks.update(7, { name: 'other' }), what);
      const uploads = await startServer(t, handler, ok);
      await t.rejects(uploads.carillon.uploads.create(new Blob(['x']), { name: 'x.txt' }), what);
      t.same([received.length, uploads.received.length], [1, 1], what);
      t.match(uploads.received[0]?.headers['content-type'], /^multipart\/form-data; boundary=/);
    }),
  );
});

t.test('Errors that a repetition cannot remove are not repeated', async (t) => {
  const aiFailed = json(503, { error: 'AI provider failed' }, { 'x-error-code': 'AI_PROVIDER_FAILED' });
  for (const handler of [...[400, 401, 402, 403, 404, 409, 412, 422, 500].map((status) => fail(status)), aiFailed]) {
    const { carillon, received } = await startServer(t, handler, ok);
    const error = await catchError(carillon.request('POST', '/api/tasks', keyed), ApiError);
    t.equal(received.length, 1, String(error.status));
  }
});

t.test('A request whose first attempt still runs is repeated until that is done', async (t) => {
  const { carillon, received } = await startServer(t, reset, fail(409, { 'retry-after': '1' }), ok);
  await carillon.request('POST', '/api/tasks', keyed);
  t.equal(received.length, 3);
  const other = await startServer(t, fail(409));
  await catchError(other.carillon.request('POST', '/api/tasks', keyed), ConflictError);
  t.equal(other.received.length, 1, 'another conflict is final');
});

t.test('A request waits for Retry-After, and leaves a wait of more than a minute to the caller', async (t) => {
  const { carillon, received } = await startServer(t, fail(429, { 'retry-after': '1' }), ok);
  const since = performance.now();
  await carillon.tasks.get(7);
  t.ok(performance.now() - since >= 990);
  t.equal(received.length, 2);

  const late = await startServer(t, fail(429, { 'retry-after': '900' }), ok);
  const error = await catchError(late.carillon.tasks.get(7), RateLimitError);
  t.same([error.retryAfterMs, late.received.length], [900_000, 1]);
});

t.test('Retry-After is a number of seconds or a date', async (t) => {
  const now = Date.parse('2026-11-20T10:00:00Z');
  for (const [header, expected] of [
    ['7', 7000],
    [' 0 ', 0],
    ['Fri, 20 Nov 2026 10:00:30 GMT', 30_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['', null],
    [null, null],
  ] as const) {
    t.equal(parseRetryAfter(header, now), expected, String(header));
  }
});

t.test('A request is repeated maxRetries times at most', async (t) => {
  const { open, received } = await startServer(t, fail(503));
  await catchError(open({ maxRetries: 0 }).tasks.get(1), UnavailableError);
  t.equal(received.length, 1);
  await catchError(open().tasks.get(1, { maxRetries: 2 }), UnavailableError);
  t.equal(received.length, 4);
});
t.test('Each operation that takes a key gets a random one of its own', async (t) => {
  const { carillon, open, received } = await startServer(t, ok);
  await Promise.all([carillon.tasks.run(1), carillon.tasks.run(1), open({ maxRetries: 0 }).tasks.run(1)]);
  const keys = received.map(({ headers }) => headers['idempotency-key']);
  t.equal(new Set(keys).size, 3, 'none without repetitions');
  t.equal(keys.filter((key) => /^[0-9a-f]{32}$/.test(String(key))).length, 2);
});
