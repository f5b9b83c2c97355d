import { inspect } from 'node:util';
import t from 'tap';
import * as errors from '../src/errors.ts';
import { type ApiError, Carillon, ConnectionError, InvalidResponseError, TimeoutError } from '../src/index.ts';
import { API_KEY, catchError, fail, hang, html, json, ok, reset, startServer } from './hostile-server.ts';

const CLASSES = {
  400: errors.BadRequestError,
  401: errors.AuthenticationError,
  402: errors.QuotaExceededError,
  403: errors.PermissionError,
  404: errors.NotFoundError,
  408: errors.UnavailableError,
  409: errors.ConflictError,
  412: errors.PreconditionFailedError,
  418: errors.ApiError,
  422: errors.UnprocessableError,
  429: errors.RateLimitError,
  500: errors.ServerError,
  502: errors.UnavailableError,
  503: errors.UnavailableError,
  504: errors.UnavailableError,
};

t.test('An error response throws the class of its status, with what the response says', async (t) => {
  for (const [status, ErrorClass] of Object.entries(CLASSES)) {
    const body = {
      success: false,
      error: 'Short',
      message: 'A sentence.',
      details: { name: ['is bad'] },
    };
    const { open } = await startServer(
      t,
      json(Number(status), body, { 'x-request-id': 'r-1', 'x-error-code': 'SOME_CODE', 'retry-after': '3' }),
    );
    const error = await catchError<ApiError>(open({ maxRetries: 0 }).tasks.get(7), ErrorClass);
    t.equal(error.constructor, ErrorClass);
    t.match(error, {
      name: ErrorClass.name,
      status: Number(status),
      code: 'SOME_CODE',
      requestId: 'r-1',
      retryAfterMs: 3000,
      details: { name: ['is bad'] },
      message: status === '400' ? 'A sentence. (name: is bad)' : 'A sentence.',
    });
  }
});

t.test('An error that is not JSON has the class of its status too', async (t) => {
  const { open } = await startServer(t, html(502));
  const error = await catchError(open({ maxRetries: 0 }).tasks.get(7), errors.UnavailableError);
  t.match(error, {
    status: 502,
    code: null,
    requestId: null,
    message: 'The server answered 502 without an explanation.',
  });
});

t.test('A request has the key, the query and the body', async (t) => {
  const { open, received } = await startServer(t, ok);
  const carillon = open({ headers: { 'x-admin-key': 'admin' } });
  await carillon.executions.list({ taskId: 7, status: undefined, limit: 5 }).page();
  await carillon.tasks.preview({ scheduledFor: '2099-01-01T00:00:00Z', recurrence: 'once', timezone: 'UTC' });
  t.match(received, [
    { method: 'GET', url: '/api/executions?taskId=7&limit=5', body: '' },
    {
      method: 'POST',
      url: '/api/tasks/preview',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${API_KEY}`, 'x-admin-key': 'admin' },
      body: '{"scheduledFor":"2099-01-01T00:00:00Z","recurrence":"once","timezone":"UTC"}',
    },
  ]);
  t.notOk(received[0]?.headers['content-type']);
});

t.test('baseUrl may have a path', async (t) => {
  const { baseUrl, received } = await startServer(t, ok);
  await new Carillon({ baseUrl: `${baseUrl}/carillon/` }).user.get();
  t.equal(received[0]?.url, '/carillon/api/user');
  t.notOk(received[0]?.headers.authorization, 'without a key there is no header');
});

t.test('withResponse has the status, the headers, the ETag and the request id', async (t) => {
  const { carillon } = await startServer(t, json(200, { success: true }, { etag: '"4"', 'x-request-id': 'r-9' }));
  const { body, status, etag, requestId, headers } = await carillon.tasks.get(7).withResponse();
  t.same(
    [body, status, etag, requestId, headers.get('content-type')],
    [{ success: true }, 200, '"4"', 'r-9', 'application/json'],
  );
});

t.test('A failure is thrown once, also by withResponse', async (t) => {
  const { open } = await startServer(t, fail(404));
  await catchError(open().tasks.get(7).withResponse(), errors.NotFoundError);
});

t.test('A redirect is not followed, so that another host gets neither the key nor the body', async (t) => {
  const other = await startServer(t, ok);
  for (const status of [301, 302, 303, 307, 308]) {
    const { carillon } = await startServer(t, (response) =>
      response.writeHead(status, { location: `${other.baseUrl}/api/tasks/7` }).end(),
    );
    const error = await catchError(carillon.tasks.delete(7), InvalidResponseError);
    t.match(error.message, `answered ${status} with a redirect`);
    await catchError(carillon.events.stream().next(), InvalidResponseError);
  }
  t.same(other.received, []);
});

t.test('A success that is not JSON is an error', async (t) => {
  const { carillon, received } = await startServer(t, html(200));
  await catchError(carillon.tasks.get(7), InvalidResponseError);
  t.equal(received.length, 1);
});

t.test('A server that does not answer, or stops within its answer, ends in a TimeoutError', async (t) => {
  const half = await startServer(t, (response) => response.writeHead(200).write('{"suc'));
  for (const { open } of [await startServer(t, hang), half]) {
    const error = await catchError(open({ maxRetries: 0, timeoutMs: 50 }).tasks.get(7), TimeoutError);
    t.equal(error.message, 'GET /api/tasks/7 was not answered within 50 ms.');
  }
  const twice = await startServer(t, hang, ok);
  t.same(await twice.carillon.tasks.get(7, { timeoutMs: 50 }), { success: true }, 'which is repeated');
});

t.test('An unreachable server ends in a ConnectionError with its cause', async (t) => {
  const carillon = new Carillon({ baseUrl: 'http://127.0.0.1:9', apiKey: API_KEY, maxRetries: 0 });
  const error = await catchError(carillon.tasks.get(7), ConnectionError);
  t.ok(error.cause instanceof Error);
});

t.test('An abort ends a request, also one that waits for its repetition', async (t) => {
  const waits = fail(503, { 'retry-after': '50' });
  for (const handler of [hang, waits, reset]) {
    const { carillon, received } = await startServer(t, handler);
    const abort = new AbortController();
    const reason = new Error('The caller has gone home.');
    const result = catchError(carillon.tasks.get(7, { signal: abort.signal }), Error);
    while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    abort.abort(reason);
    t.equal(await result, reason);
    t.equal(await catchError(carillon.tasks.get(7, { signal: abort.signal }), Error), reason, 'before it begins');
  }
});

t.test('An abort ends a request whose fetch ignores it', async (t) => {
  const abort = new AbortController();
  const carillon = new Carillon({ baseUrl: 'http://127.0.0.1:9', fetch: () => new Promise(() => {}) });
  const result = catchError(carillon.tasks.get(7, { signal: abort.signal }), DOMException);
  abort.abort();
  t.equal((await result).name, 'AbortError');
});

t.test('No error and no printed client has the key', async (t) => {
  const { open, carillon } = await startServer(t, reset);
  const failed = await catchError(open({ maxRetries: 0 }).tasks.get(7), ConnectionError);
  t.notMatch(inspect([failed, carillon, carillon.tasks], { depth: 9, showHidden: true }), API_KEY);
  t.notMatch(JSON.stringify(carillon), API_KEY);
  const invalid = t.throws(() => open({ apiKey: `${API_KEY}\n` }), TypeError);
  t.notMatch(inspect(invalid), API_KEY);
});

t.test('Invalid options are named', async (t) => {
  const open = (options: object) => () => new Carillon({ baseUrl: 'http://127.0.0.1:9', ...options });
  for (const baseUrl of ['', 'carillon.example.com', 'ftp://x', 'http://a:b@x', 'http://x?y', undefined]) {
    t.throws(open({ baseUrl }), /^baseUrl must be a URL/);
  }
  t.throws(open({ timeoutMs: 0 }), /^timeoutMs must be/);
  t.throws(open({ maxRetries: -1 }), /^maxRetries must be/);
  t.throws(open({ apiKey: '' }), /^apiKey must be/);
  await t.rejects(open({})().tasks.get(7, { timeoutMs: Number.NaN }), /^timeoutMs must be/);
});

t.test('An id cannot change the path', async (t) => {
  const { carillon, received } = await startServer(t, ok);
  for (const id of ['', '.', '..', undefined, null, Number.NaN]) {
    t.throws(() => carillon.webhooks.delete(id as string), /is not an id/, String(id));
  }
  await carillon.webhooks.delete('../user?a=b#c/%2e%2e');
  t.same(
    received.map(({ url }) => url),
    ['/api/webhooks/..%2Fuser%3Fa%3Db%23c%2F%252e%252e'],
  );
});
