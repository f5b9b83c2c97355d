import t from 'tap';
import { AuthenticationError, EventsMissingError, InvalidResponseError, UnavailableError } from '../src/index.ts';
import { catchError, fail, type Handler, hang, html, reset, startServer } from './hostile-server.ts';

// Most of the time is spent waiting before connecting again.
t.jobs = 20;

const STREAM = { 'content-type': 'text/event-stream; charset=utf-8' };

const format = (id: number) => `id: ${id}\nevent: task.started\ndata: {"id":"${id}","event":"task.started"}\n\n`;

/** Sends text, then closes the stream, unless it stays open. */
const send =
  (text: string, { open = false } = {}): Handler =>
  (response) => {
    response.writeHead(200, STREAM).write(`retry: 1\n\n${text}`);
    if (!open) response.end();
  };

/** Reads as many events as given. */
async function readIds(stream: AsyncIterable<{ id: string }>, count: number) {
  const ids: string[] = [];
  for await (const { id } of stream) if (ids.push(id) === count) break;
  return ids;
}

const lastIds = (received: { headers: Record<string, unknown> }[]) =>
  received.map(({ headers }) => headers['last-event-id']);

t.test(
  'A stream continues after the last event across lost connections, without a gap and without a repeat',
  async (t) => {
    const { carillon, received } = await startServer(
      t,
      send(format(8) + format(9)),
      (response) => {
        response.writeHead(200, STREAM).write(`${format(9)}${format(10)}id: 11\ndata: {"cut`);
        setTimeout(() => response.destroy(), 20);
      },
      reset,
      fail(503, { 'retry-after': '0' }),
      html(500),
      send(format(10) + format(11), { open: true }),
    );
    t.same(await readIds(carillon.events.stream({ after: '7' }), 4), ['8', '9', '10', '11']);
    t.same(lastIds(received), ['7', '9', '10', '10', '10', '10']);
  },
);

t.test('A stream that begins now continues where it began, if nothing has happened yet', async (t) => {
  const { carillon, received } = await startServer(t, send('id: 41\n\n'), send(format(42), { open: true }));
  t.same(await readIds(carillon.events.stream(), 1), ['42']);
  t.same(lastIds(received), [undefined, '41']);
});

t.test('The kinds and the task are sent with each connection', async (t) => {
  const { carillon, received } = await startServer(t, send(format(1)), send(format(2)));
  await readIds(carillon.events.stream({ kinds: ['task.started', 'task.failed'], taskId: 7 }), 2);
  const url = '/api/events?kinds=task.started%2Ctask.failed&taskId=7';
  t.match(received, [
    { url, headers: { accept: 'text/event-stream' } },
    { url, headers: { accept: 'text/event-stream' } },
  ]);
});

t.test('A stream waits as long as the server asks for', async (t) => {
  const { carillon } = await startServer(
    t,
    (response) => response.writeHead(200, STREAM).end(`retry: 1200\n\n${format(1)}`),
    send(format(2), { open: true }),
  );
  const since = performance.now();
  await readIds(carillon.events.stream({ after: '0' }), 2);
  t.ok(performance.now() - since >= 1190);
});

t.test('Missing events are an error, unless onReset is there', async (t) => {
  const resets = send(`event: reset\ndata: {}\n\n${format(50)}`, { open: true });
  const { open } = await startServer(t, resets);
  await catchError(open().events.stream({ after: '7' }).next(), EventsMissingError);
  let count = 0;
  const onReset = () => count++;
  t.same(await readIds(open().events.stream({ after: '70', onReset }), 1), ['50'], 'also with a smaller id');
  t.equal(count, 1);
});

t.test('A log that ends before the last event, as after a restored backup, counts as missing events', async (t) => {
  const { open } = await startServer(t, send(`id: 3\n\n${format(4)}`, { open: true }));
  await catchError(open().events.stream({ after: '7' }).next(), EventsMissingError);
  t.same(await readIds(open().events.stream({ after: '7', onReset: () => {} }), 1), ['4']);
});

t.test('A refusal ends the stream with its error', async (t) => {
  for (const status of [400, 401, 403, 404]) {
    const { carillon, received } = await startServer(t, send(format(1)), fail(status));
    const error = await catchError(readIds(carillon.events.stream(), 2), Error);
    t.match(error, { status });
    t.equal(received.length, 2);
  }
  const { carillon } = await startServer(t, fail(401));
  await catchError(carillon.events.stream().next(), AuthenticationError);
});

t.test('maxRetries limits failed attempts in a row', async (t) => {
  const { carillon, received } = await startServer(t, fail(503));
  await catchError(carillon.events.stream({ maxRetries: 1 }).next(), UnavailableError);
  t.equal(received.length, 2);
});

t.test('A connection without a byte is replaced', async (t) => {
  const silent = send(format(1), { open: true });
  const { carillon, received } = await startServer(t, hang, silent, send(format(2), { open: true }));
  t.same(await readIds(carillon.events.stream({ timeoutMs: 1000 }), 2), ['1', '2']);
  t.equal(received.length, 3);
});

t.test('A slow reader does not lose its connection', async (t) => {
  const { carillon, received } = await startServer(t, send(format(1) + format(2), { open: true }));
  const ids: string[] = [];
  for await (const { id } of carillon.events.stream({ timeoutMs: 2000 })) {
    ids.push(id);
    if (ids.length === 2) break;
    await new Promise((resolve) => setTimeout(resolve, 2500));
  }
  t.same([ids, received.length], [['1', '2'], 1]);
});

t.test('A malformed stream is an error', async (t) => {
  for (const handler of [html(200), send('id: 1\ndata: {"cut\n\n'), send('data: 7\n\n')]) {
    const { carillon, received } = await startServer(t, handler);
    await catchError(carillon.events.stream().next(), InvalidResponseError);
    t.equal(received.length, 1);
  }
});

t.test('An abort ends the stream without an error during every wait', async (t) => {
  for (const handler of [hang, send(format(1), { open: true }), fail(503, { 'retry-after': '60' })]) {
    const { carillon, received } = await startServer(t, handler);
    const abort = new AbortController();
    const all = readIds(carillon.events.stream({ signal: abort.signal }), 9);
    while (received.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    abort.abort();
    t.ok((await all).length <= 1);
  }
});

t.test('The connection closes when the reader stops', async (t) => {
  let closed: Promise<unknown> = Promise.reject(new Error('There was no connection.'));
  closed.catch(() => {});
  const { carillon } = await startServer(t, (response) => {
    closed = new Promise((resolve) => response.once('close', resolve));
    response.writeHead(200, STREAM).write(format(1));
  });
  await readIds(carillon.events.stream(), 1);
  await closed;
  t.pass('the server saw it');
});

t.test('An answer of agent mode comes in pieces, and the whole at the end', async (t) => {
  const done = { success: true, response: { content: 'Hello' } };
  const { carillon, received } = await startServer(
    t,
    send(
      `event: content\ndata: {"text":"Hel"}\n\n: alive\n\nevent: content\ndata: {"text":"lo"}\n\nevent: done\ndata: ${JSON.stringify(done)}\n\n`,
    ),
  );
  const events = [];
  for await (const event of carillon.agent.stream({ message: 'Hello?' })) events.push(event);
  t.match(events, [{ event: 'content', text: 'Hel' }, { text: 'lo' }, { event: 'done', ...done }]);
  t.equal(received[0]?.headers['idempotency-key'], undefined);
});

t.test('An answer of agent mode that fails or is cut off is an error, and not sent again', async (t) => {
  const content = 'event: content\ndata: {"text":"Hel"}\n\n';
  const failed = `${content}event: error\ndata: {"success":false,"error":"AI provider failed","code":"AI_PROVIDER_FAILED"}\n\n`;
  for (const [handler, expected] of [
    [send(failed), { name: 'UnavailableError', code: 'AI_PROVIDER_FAILED' }],
    [send(content), { name: 'ConnectionError' }],
    [fail(503), { name: 'UnavailableError' }],
    [reset, { name: 'ConnectionError' }],
  ] as const) {
    const { carillon, received } = await startServer(t, handler);
    const all = (async () => {
      for await (const _ of carillon.agent.stream({ message: 'Hello?' }));
    })();
    t.match(await catchError(all, Error), expected);
    t.equal(received.length, 1);
  }
});
