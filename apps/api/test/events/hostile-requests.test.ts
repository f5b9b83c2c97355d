import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { openStream } from '../support/live-stream.ts';
import { signUp } from '../support/people.ts';
import { recordManyEvents } from '../support/webhooks.ts';

const ORIGIN = 'https://app.example.com';
const BEGIN = 'retry: 2000\nid: 2\n\n';

const { app, ctx } = await testContext(t, { env: { CORS_ORIGINS: ORIGIN } });
const url = await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as AddressInfo;
const alice = await signUp(app);
await recordManyEvents(ctx, alice.id, 2);

/** Sends header lines byte by byte as they are, and returns what comes first. */
async function sendRaw(lines: string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  const head = ['GET /api/events HTTP/1.1', 'Host: x', 'Accept: text/event-stream'];
  const authorization = `Authorization: ${alice.headers.authorization}`;
  socket.write(`${[...head, authorization, ...lines].join('\r\n')}\r\n\r\n`, 'latin1');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  const ended = once(socket, 'close');
  while (!received.includes(BEGIN) && !socket.closed) await Promise.race([once(socket, 'data'), ended]);
  socket.destroy();
  await ended;
  return received;
}

t.test('Nothing of Last-Event-ID reaches the response: it is an id, begins now, or is malformed HTTP', async (t) => {
  const tries: [statuses: string, lines: string[]][] = [
    ['200', ['Last-Event-ID: evil']],
    ['200', ['Last-Event-ID: 1%0d%0aX-Evil:%20evil']],
    ['200', ['Last-Event-ID: 1\\r\\nX-Evil: evil']],
    ['200', ['Last-Event-ID: \xd9\xa1']],
    ['200', ['Last-Event-ID: 1', 'Last-Event-ID: evil']],
    ['200', ['Last-Event-ID: 1', 'X-Evil: evil', 'Last-Event-ID: 1']],
    ['200', ['Last-Event-ID: 9223372036854775808']],
    ['200', ['Last-Event-ID: -9223372036854775808']],
    ['200', [`Last-Event-ID: ${'7'.repeat(4000)}`]],
    ['400', ['Last-Event-ID: 1\nX-Evil: evil']],
    ['400', ['Last-Event-ID: 1\rX-Evil: evil']],
    ['400', ['Last-Event-ID: 1\0evil']],
    ['431', [`Last-Event-ID: ${'7'.repeat(20_000)}`]],
  ];
  for (const [status, lines] of tries) {
    const received = await sendRaw(lines);
    const name = JSON.stringify(lines).slice(0, 80);
    t.equal(received.slice(9, 12), status, name);
    t.notMatch(received, /evil|1%0d|\xd9|77777/i, name);
    if (status === '200') t.ok(received.includes(BEGIN), `${name} begins now`);
  }
  t.ok((await sendRaw(['Last-Event-ID: 2'])).includes(BEGIN));
});

t.test('An after that is no id is 400 and named, for the list and for a stream', async (t) => {
  const wrong = [
    '9223372036854775808',
    '9223372036854775807',
    '-9223372036854775808',
    '-1',
    '-0',
    '+1',
    '1.0',
    '0x1',
    '1e3',
    'NaN',
    '%20',
    '1%00',
    '1%0A',
    '%D9%A1',
    "1'--",
    '1&after=2',
    '',
  ];
  for (const accept of ['application/json', 'text/event-stream']) {
    for (const after of wrong) {
      const answer = await app.inject({ url: `/api/events?after=${after}`, headers: { ...alice.headers, accept } });
      t.equal(answer.statusCode, 400, `${accept} ${after}`);
      t.same(Object.keys(answer.json().details), ['after'], `${accept} ${after}`);
    }
  }
  for (const [after, ids] of [
    ['0', ['1', '2']],
    ['00', ['1', '2']],
    ['1', ['2']],
    ['999999999999999', []],
  ] as const) {
    const { events } = (await app.inject({ url: `/api/events?after=${after}`, headers: alice.headers })).json();
    t.same(
      events.map(({ id }: { id: string }) => id),
      ids,
      after,
    );
  }
});

t.test('Web pages of CORS_ORIGINS may read a stream, and no others', async (t) => {
  for (const [origin, allowed] of [
    [ORIGIN, ORIGIN],
    ['https://evil.example', undefined],
    ['null', undefined],
  ] as const) {
    const stream = await openStream(url, { headers: { ...alice.headers, origin } });
    t.equal(stream.status, 200);
    t.equal(stream.headers['access-control-allow-origin'], allowed);
    stream.close();
  }
});
