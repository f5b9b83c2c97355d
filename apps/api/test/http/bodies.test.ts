import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { testContext } from '../support/context.ts';
import { probeRoute } from '../support/contract/probe-route.ts';

const reached: unknown[] = [];
const { app } = await testContext(t, { routes: probeRoute(reached) });
await app.listen({ host: '127.0.0.1', port: 0 });
const { port } = app.server.address() as { port: number };
t.beforeEach(() => {
  reached.length = 0;
});

const post = (payload: string | Buffer, contentType = 'application/json', url = '/probe/1') =>
  app.inject({ method: 'POST', url, payload, headers: { 'content-type': contentType } });

/** Sends raw bytes, which no client library would, and returns the raw answer. */
async function sendRaw(head: string[], body = '{"name":"x"}'): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const received: Buffer[] = [];
  socket.on('data', (chunk) => received.push(chunk));
  const framing = head.some((line) => line.startsWith('Transfer-Encoding')) ? [] : [`Content-Length: ${body.length}`];
  const lines = ['POST /probe/1 HTTP/1.1', 'Host: x', 'Connection: close', ...framing, ...head];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
  await once(socket, 'close');
  return Buffer.concat(received).toString();
}

t.test('A valid body reaches the handler, and only contract fields are sent back', async (t) => {
  const response = await post('{"name":"x"}', 'application/json; charset=utf-8', '/probe/7?limit=5&utm=1');
  t.equal(response.statusCode, 200);
  t.same(response.json(), { id: 7, limit: 5, name: 'x' });
});

t.test('Malformed JSON is refused as invalid JSON', async (t) => {
  const invalid = [
    '{',
    '{"name":}',
    "{'name':'x'}",
    '{"name":"x"}}',
    'nul',
    '{"name":"x",}',
    '{"name":"\n"}',
    '\u0000',
  ];
  const poisoned = ['{"name":"x","__proto__":{"a":1}}', '{"name":"x","constructor":{"prototype":{"a":1}}}'];
  for (const body of [...invalid, ...poisoned]) {
    const response = await post(body);
    t.equal(response.statusCode, 400, JSON.stringify(body));
    t.match(response.json(), { success: false, error: 'Invalid JSON', message: String });
  }
  const latin1 = await post(Buffer.from('{"name":"caf\xe9"}', 'latin1'));
  t.match(latin1.json(), { error: 'Invalid JSON' }, 'bytes that are not UTF-8 are not replaced by others');
  t.same(reached, []);
});

t.test('A missing body is a validation error', async (t) => {
  for (const body of ['', '  ', 'null', '[]', '"text"', '7']) {
    const response = await post(body);
    t.equal(response.statusCode, 400);
    t.match(response.json(), { error: 'Validation error', details: { body: ['must be an object'] } }, body);
  }
  const bare = await app.inject({ method: 'POST', url: '/probe/1' });
  t.match(bare.json(), { error: 'Validation error', details: { body: ['must be an object'] } });
});

t.test('Unknown fields are refused by name', async (t) => {
  const response = await post('{"name":"x","role":"ADMIN","isAdmin":true}');
  t.equal(response.statusCode, 400);
  t.same(response.json().details, { role: ['is not a known field'], isAdmin: ['is not a known field'] });
});

t.test('Characters that PostgreSQL cannot store are refused by name', async (t) => {
  for (const text of ['\\u0000', '\\ud800', 'a\\udc00b']) {
    const response = await post(`{"name":"x","free":{"deep":["${text}"]}}`);
    t.equal(response.statusCode, 400);
    t.match(response.json(), { error: 'Validation error', details: { 'free.deep': [/^item 1 must not contain/] } });
    const named = await post(`{"name":"x","${text}":1}`);
    t.equal(named.statusCode, 400);
  }
  const query = await app.inject({ method: 'POST', url: '/probe/1?search=a%00b', payload: { name: 'x' } });
  t.same(query.json().details, { search: ['must not contain the NUL character'] });
  t.same(reached, []);
});

t.test('20,000 levels of nesting are refused without a stack overflow', async (t) => {
  for (const [open, close] of [
    ['{"a":', '}'],
    ['[', ']'],
  ] as const) {
    const response = await post(`{"name":"x","free":${open.repeat(20_000)}1${close.repeat(20_000)}}`);
    t.equal(response.statusCode, 400);
    t.match(Object.values(response.json().details).flat(), [/nested deeper/]);
  }
});

t.test('A body over the limit is refused, with and without a Content-Length', async (t) => {
  const announced = await post(`{"name":"${'x'.repeat(1024 * 1024)}"}`);
  t.equal(announced.statusCode, 400);
  t.match(announced.json(), { success: false, error: 'Body too large' });
  const chunks = `10000\r\n${'x'.repeat(0x10000)}\r\n`.repeat(20);
  const chunked = await sendRaw(['Content-Type: application/json', 'Transfer-Encoding: chunked'], chunks);
  t.match(chunked, /^HTTP\/1\.1 400 /);
  t.same(reached, []);
});

/** Content types that have bypassed the validation of some server. */
const ODD_TYPES = [
  'text/plain',
  'text/plain; application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonx',
  'application/json-patch+json',
  'application/vnd.api+json',
  'application/json\t',
  'application/json\t;charset=utf-8',
  ' application/json',
  'application/json ; charset=utf-8',
  'APPLICATION/JSON',
  'application/json, text/plain',
  'application/json;',
  'application/json; charset=utf-16',
  'application//json',
  '*/*',
  'json',
  '\u00a0application/json',
  ';',
];

t.test('No content type bypasses the validation', async (t) => {
  for (const type of ODD_TYPES) {
    const refused = await post('{"name":7,"role":"ADMIN"}', type);
    t.equal(refused.statusCode, 400, JSON.stringify(type));
    t.match(refused.json(), { success: false, error: String });
    const raw = await sendRaw([`Content-Type: ${type}`], '{"name":7}');
    t.match(raw, /^HTTP\/1\.1 400 /, `${JSON.stringify(type)} on the wire`);
  }
  t.same(reached, [], 'nothing unvalidated has reached the handler');
});

t.test('Two content types, or a body without one, do not bypass it either', async (t) => {
  const types = ['Content-Type: application/json', 'Content-Type: text/plain'];
  for (const head of [types, types.toReversed(), [], ['Content-Type:']]) {
    t.match(await sendRaw(head, '{"name":7}'), /^HTTP\/1\.1 400 /, head.join());
  }
  t.same(reached, []);
});
