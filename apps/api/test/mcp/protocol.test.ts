import t from 'tap';
import { testContext } from '../support/context.ts';
import { createKey } from '../support/keys.ts';
import { ENVELOPE, envelopeHeaders, post, postRaw } from '../support/mcp.ts';
import { signUp } from '../support/people.ts';

const printed: unknown[] = [];
for (const name of ['log', 'warn', 'error', 'info', 'debug'] as const) {
  t.intercept(console, name, { value: (...texts: unknown[]) => printed.push(texts) });
}

const { app, logged } = await testContext(t, { env: { LOG_LEVEL: 'debug' } });
const url = new URL('/mcp', await app.listen({ host: '127.0.0.1', port: 0 }));
const { headers } = await createKey(app, await signUp(app));
const send = (body: unknown, more: Record<string, string> = {}) => post(url, { ...headers, ...more }, body);

const INVALID_PARAMS = -32_602;
const ask = (method: string, params?: object) => ({ jsonrpc: '2.0', id: 7, method, ...(params && { params }) });
const call = (given: unknown, name: unknown = 'preview_schedule') => ask('tools/call', { name, arguments: given });
const ask2026 = (method: string, params: object = {}) => ask(method, { _meta: ENVELOPE, ...params });
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;

t.test('A malformed message is an error of the protocol, never of the server', async (t) => {
  const list = envelopeHeaders('tools/list');
  const earlier = { 'mcp-protocol-version': '1999-01-01' };
  const later = { ...ENVELOPE, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
  const cases: [what: string, body: unknown, status: number, code: number, headers?: Record<string, string>][] = [
    ['no JSON', '{', 400, -32_700],
    ['no UTF-8', '{"__proto__": {}}', 400, -32_700],
    ['an empty body', '', 400, -32_700],
    ['a batch', [ask('ping')], 400, -32_600],
    ['a number', '5', 400, -32_600],
    ['null', 'null', 400, -32_600],
    ['another object', { a: 1 }, 400, -32_600],
    ['no id', { ...ask('ping'), id: null }, 400, -32_600],
    ['an object as id', { ...ask('ping'), id: {} }, 400, -32_600],
    ['200,000 levels', `{"jsonrpc":"2.0","id":7,"result":${nested(200_000)}}`, 400, INVALID_PARAMS],
    ['levels in params', ask('tools/list', { _meta: JSON.parse(nested(40)) }), 400, INVALID_PARAMS],
    ['NUL in params', ask('tools/list', { cursor: 'a\0' }), 400, INVALID_PARAMS],
    ['an unknown method', ask('tasks/explode'), 200, -32_601],
    ['a capability that is not there', ask('prompts/list'), 200, -32_601],
    ['an unknown tool', call({}, 'launch_rocket'), 200, INVALID_PARAMS],
    ['no tool', ask('tools/call', {}), 200, INVALID_PARAMS],
    ['no params', ask('tools/call'), 200, INVALID_PARAMS],
    ['a list as arguments', call([]), 200, INVALID_PARAMS],
    ['a text as arguments', call('x'), 200, INVALID_PARAMS],
    ['an unknown version', ask('tools/list'), 400, -32_000, earlier],
    ['Accept of another type', ask('tools/list'), 406, -32_000, { accept: 'text/html' }],
    ['2026 without headers', ask2026('tools/list'), 400, -32_020],
    ['2026 without its envelope', ask('tools/list'), 400, INVALID_PARAMS, list],
    ['another method in the header', ask2026('tools/list'), 400, -32_020, envelopeHeaders('tools/call', 'x')],
    [
      'another tool in the header',
      ask2026('tools/call', { name: 'get_task' }),
      400,
      -32_020,
      envelopeHeaders('tools/call', 'x'),
    ],
    [
      'a later version',
      ask('tools/list', { _meta: later }),
      400,
      -32_022,
      { ...list, 'mcp-protocol-version': '2099-01-01' },
    ],
    [
      'an unknown tool in 2026',
      ask2026('tools/call', { name: 'x' }),
      200,
      INVALID_PARAMS,
      envelopeHeaders('tools/call', 'x'),
    ],
  ];
  for (const [what, body, status, code, more] of cases) {
    const answer = await send(body, more);
    t.equal(answer.status, status, what);
    t.match(answer.message, { jsonrpc: '2.0', error: { code, message: /\w/ } }, what);
    t.ok(answer.text.length < 1500, `${what}: ${answer.text.length}`);
  }
  t.same(
    (await send({ jsonrpc: '2.0', method: 'notifications/initialized' })).text,
    '',
    'a notification has no answer',
  );
});

t.test('A client that names one type, any or none is answered, as JSON unless it takes events', async (t) => {
  const bodies = [
    { body: ask('tools/list'), more: {} },
    { body: ask2026('tools/list'), more: envelopeHeaders('tools/list') },
    { body: call({}), more: {} },
  ];
  for (const { body, more } of bodies) {
    for (const accept of ['application/json', '*/*', 'application/*', 'application/json;q=0.9, text/html', undefined]) {
      const answer = await app.inject({
        method: 'POST',
        url: '/mcp',
        headers: { ...headers, ...more, ...(accept !== undefined && { accept }) },
        payload: body,
      });
      t.equal(answer.statusCode, 200, `${accept}`);
      t.match(answer.headers['content-type'], /^application\/json/);
      t.match(answer.json(), { jsonrpc: '2.0', id: 7, result: {} });
    }
  }
  const events = await send(ask('tools/list'), { accept: 'text/event-stream' });
  t.match(events, { status: 200, text: /^event: message\ndata: / });
  const refused = await send(ask('tasks/explode'), { accept: 'application/json' });
  t.match(refused.message, { id: 7, error: { code: -32_601 } });
  const told = await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, { accept: '*/*' });
  t.match(told, { status: 202, text: '' });
});

t.test('Null as arguments means none', async (t) => {
  const { message } = await send(call(null, 'list_tasks'));
  t.match(message.result, { structuredContent: { tasks: [] } });
});

t.test('Arguments that a tool refuses are a result that names the fields', async (t) => {
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [n.toString(36), 1]));
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`field${n}`, 1]));
  const cases: [given: unknown, text: RegExp][] = [
    [{ timezone: 'a\0' }, /- timezone: must not contain the NUL character/],
    [{ note: JSON.parse(nested(40)) }, /must not be nested deeper than 32 levels/],
    [wide, /- arguments: must have at most 1000 fields/],
    [many, /- and 48\d more fields/],
    [{}, /- scheduledFor: is required/],
  ];
  for (const [given, expected] of cases) {
    const { status, message, text } = await send(call(given));
    t.equal(status, 200);
    t.match(message.result, { isError: true, content: [{ type: 'text', text: expected }] });
    t.match(message.result, { _meta: { 'carillon/error': { code: 'VALIDATION_ERROR', status: 400 } } });
    t.equal(message.result?.structuredContent, undefined);
    t.ok(text.length < 100_000);
  }
});

t.test('A large body is refused before it is read, and other types than JSON are', async (t) => {
  const raw = ['Authorization', headers.authorization, 'Content-Length', String(10 * 1024 * 1024)];
  t.equal(await postRaw(url, [...raw, 'Content-Type', 'application/json']), 413, 'nothing of it was sent');
  t.match((await send('x'.repeat(1024 * 1024 + 1))).message, { error: { message: /1 MiB/ } });
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const { status, message } = await send(ask('ping'), { 'content-type': type });
    t.equal(status, 415, type);
    t.match(message, { jsonrpc: '2.0', error: { message: /application\/json/ } });
  }
});

t.test('Subscriptions end at once, because there is nothing to notify of', async (t) => {
  const listen = ask2026('subscriptions/listen', {
    notifications: { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ['carillon:task'] },
  });
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => send(listen, envelopeHeaders('subscriptions/listen'))),
  );
  for (const { status, text } of answers) {
    t.equal(status, 200);
    t.match(text, /"notifications\/subscriptions\/acknowledged","params":\{"notifications":\{\}/);
    t.match(text, /"resultType":"complete"/);
  }
});

t.test('The server describes itself to clients of both eras', async (t) => {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const { result: earlier } = (await send(ask('initialize', params))).message;
  t.match(earlier, {
    protocolVersion: '2025-06-18',
    serverInfo: { name: 'carillon', title: 'Carillon', version: /^\d+\.\d+\.\d+$/, websiteUrl: /^http/ },
    instructions: /next runs in local time/,
  });
  t.same(earlier?.capabilities, { tools: {} });
  const { result } = (await send(ask2026('server/discover'), envelopeHeaders('server/discover'))).message;
  t.match(result, { supportedVersions: ['2026-07-28'], instructions: earlier?.instructions });
  t.same(result?.capabilities, { tools: {} });
  t.match(result?._meta, { 'io.modelcontextprotocol/serverInfo': { name: 'carillon', title: 'Carillon' } });
});

t.test('The library writes into the log of the service only', async (t) => {
  t.same(printed, []);
  const refused = logged.filter(({ msg }) => msg === 'MCP request refused');
  t.ok(refused.length > 0);
  for (const line of refused) t.equal(line.level, 20, JSON.stringify(line));
  t.same(
    logged.filter(({ level }) => Number(level) > 30),
    [],
  );
});
