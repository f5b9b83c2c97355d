import type { Socket } from 'node:net';
import t from 'tap';
import { buildAiRequest, createTestAi, startTestAi, toFailure } from '../../support/ai-client.ts';
import { startRawProbeServer } from '../../support/servers/probe-servers.ts';

const message = { role: 'assistant', content: 'Titan' };
const WHOLE = { choices: [{ message, finish_reason: 'stop' }], usage: { prompt_tokens: 5, completion_tokens: 6 } };
const SSE = { 'content-type': 'text/event-stream' };
const JSON_TYPE = { 'content-type': 'application/json' };
const event = (value: unknown) => `data: ${JSON.stringify(value)}`;
const piece = (content: string, more: object = {}, finish: string | null = null) =>
  event({ choices: [{ delta: { content }, finish_reason: finish }], ...more });
const PIECES = [piece('Ti'), piece('tan', {}, 'stop')].join('\n\n');

t.test('Finish reasons are understood by their meaning', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const [meaning, reasons] of [
    [
      'stop',
      [
        'stop',
        'STOP',
        'Stop',
        'end_turn',
        'eos',
        'COMPLETE',
        'stop_sequence',
        'tool_calls',
        'FINISH_REASON_STOP',
        'OTHER',
      ],
    ],
    [
      'cut',
      [
        'length',
        'MAX_TOKENS',
        'max_tokens',
        'FINISH_REASON_MAX_TOKENS',
        'max_output_tokens',
        'model_length',
        'ERROR_LIMIT',
        'token_limit',
        'model_context_window_exceeded',
        'MaxTokens',
        'max_new_tokens',
        'context_length_exceeded',
      ],
    ],
    [
      'CONTENT_FILTERED',
      [
        'content_filter',
        'content_filter: RECITATION',
        'content_filter: SAFETY',
        'SAFETY',
        'RECITATION',
        'PROHIBITED_CONTENT',
        'BLOCKLIST',
        'ContentFilter',
        'refusal',
        'sensitive',
        'guardrail_intervened',
        'ERROR_TOXIC',
      ],
    ],
    [
      'PROVIDER_UNAVAILABLE',
      ['error', 'ERROR', 'network_error', 'insufficient_system_resource', 'MALFORMED_FUNCTION_CALL'],
    ],
  ] as const) {
    for (const finishReason of reasons) {
      server.answer(() => ({ text: 'Titan', finishReason }));
      for (const onText of [undefined, () => {}]) {
        const outcome = await ask({ onText });
        const found = outcome.ok ? (outcome.isCut ? 'cut' : 'stop') : outcome.errorCode;
        t.equal(found, meaning, finishReason);
      }
    }
  }
});

t.test('An error without content beside an answer is no error', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const error of [
    { message: '', code: null },
    [],
    {},
    '',
    ' ',
    null,
    false,
    0,
    { code: 0, details: [{}] },
    [null],
  ]) {
    server.answer(() => ({ body: { ...WHOLE, error, choices: [{ ...WHOLE.choices[0], error }] } }));
    t.match(await ask(), { ok: true, text: 'Titan' }, JSON.stringify(error));
    const body = `${[piece('Ti', { error }), event({ choices: [{ delta: { content: 'tan' }, error, finish_reason: 'stop' }] })].join('\n\n')}\n\n`;
    server.answer(() => ({ body, headers: SSE }));
    t.match(await ask({ onText: () => {} }), { ok: true, text: 'Titan' }, `${JSON.stringify(error)} in a stream`);
  }
});

t.test('An answer is read in whatever form it comes, asked for or not', async (t) => {
  const { server, ask } = await startTestAi(t);
  const whole = JSON.stringify(WHOLE);
  const bodies: Record<string, string> = {
    JSON: whole,
    'JSON with an end of stream': `${whole}\n\ndata: [DONE]\n\n`,
    'JSON with an end of stream in its line': `${whole}data: [DONE]`,
    'a stream': `${PIECES}\n\ndata: [DONE]\n\n`,
    'a stream without [DONE]': `${PIECES}\n\n`,
    'a last event without its empty line': `${PIECES}\n`,
    'a last event without the end of its line': PIECES,
    'a last [DONE] without the end of its line': `${piece('Titan')}\n\ndata: [DONE]`,
    '[DONE] with white space': `${piece('Titan')}\n\ndata:   [DONE]  \n\n`,
    '[DONE] with a carriage return': `${piece('Titan')}\r\n\r\ndata: [DONE] \r\n\r\n`,
    'empty events': `data:\n\ndata: \n\n:\n\n${piece('Ti')}\n\ndata:   \n\n${piece('tan', {}, 'stop')}\n\ndata:\n\n`,
    'a comment first': `: PROCESSING\n\n${PIECES}\n\n`,
    'line ends first': `\n\n\r\n${PIECES}\n\n`,
    'a whole message as an event': `${event(WHOLE)}\n\ndata: [DONE]\n\n`,
    'an event that breaks off after the end': `${PIECES}\n\ndata: {"usage": {"prom`,
    'a byte order mark': `\uFEFF${whole}`,
  };
  for (const [name, body] of Object.entries(bodies)) {
    for (const headers of [SSE, JSON_TYPE, { 'content-type': 'text/plain' }]) {
      server.answer(() => ({ body, headers }));
      t.match(await ask(), { ok: true, text: 'Titan' }, `${name} as ${headers['content-type']}`);
      const pieces: string[] = [];
      t.match(await ask({ onText: (delta) => pieces.push(delta) }), { ok: true, text: 'Titan' });
      t.equal(pieces.join(''), 'Titan');
    }
  }
  t.match(server.requests[0]?.body, { stream: false });
  t.match(server.requests[1]?.body, { stream: true });
  for (const body of [
    `${event({ error: { code: 429, message: 'Slow.' } })}\n\n`,
    'event: error\ndata: {"code": 429, "message": "Slow."}',
  ]) {
    server.answer(() => ({ body, headers: SSE }));
    t.match(toFailure(await ask()), { errorCode: 'RATE_LIMIT_EXCEEDED', message: /: Slow\.$/ });
  }
  server.answer(() => ({ body: 'event: error\ndata: Overloaded\n\n', headers: SSE }));
  t.match(toFailure(await ask({ onText: () => {} })), { errorCode: 'PROVIDER_UNAVAILABLE', message: /: Overloaded$/ });
});

/** Answers each request with these bytes; `paths` are those of the requests. */
async function startRawAi(t: Parameters<typeof startRawProbeServer>[0], answer: string) {
  const paths: string[] = [];
  const server = await startRawProbeServer(t, (socket: Socket) => {
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      const [head = '', body] = received.split('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (body === undefined || Buffer.byteLength(body) < length) return;
      received = '';
      paths.push(head.split(' ')[1] ?? '');
      socket.write(answer);
    });
  });
  return { url: `http://127.0.0.1:${server.port}`, paths };
}

const bytes = Buffer.byteLength(JSON.stringify(WHOLE));
const OK = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${bytes}\r\n\r\n${JSON.stringify(WHOLE)}`;

t.test('The query of a base URL stays behind the path', async (t) => {
  const { url, paths } = await startRawAi(t, OK);
  for (const [baseUrl, path] of [
    ['/deployments/x?api-version=2024-10-21', '/deployments/x/chat/completions?api-version=2024-10-21'],
    [
      '/deployments/x/?api-version=2024-10-21&a=b%20c',
      '/deployments/x/chat/completions?api-version=2024-10-21&a=b%20c',
    ],
    ['?key=k/', '/chat/completions?key=k/'],
    ['/v1//', '/v1/chat/completions'],
  ] as const) {
    t.ok((await createTestAi(t, { baseUrl: url + baseUrl }).ask(buildAiRequest())).ok);
    t.equal(paths.pop(), path);
  }
  for (const [anthropicBaseUrl, path] of [
    ['?beta=true', '/v1/messages?beta=true'],
    ['/proxy/v1?beta=true', '/proxy/v1/messages?beta=true'],
  ] as const) {
    const ai = createTestAi(t, { anthropicApiKey: 'k', anthropicBaseUrl: url + anthropicBaseUrl });
    await ai.ask(buildAiRequest({ model: 'anthropic/claude-x' }));
    t.equal(paths.pop(), path);
  }
});

t.test('A date to retry after counts from now if the answer has none', async (t) => {
  const at = new Date(Date.now() + 3_600_000).toUTCString();
  const { url } = await startRawAi(t, `HTTP/1.1 503 Busy\r\nretry-after: ${at}\r\ncontent-length: 0\r\n\r\n`);
  const { retryAfterMs } = toFailure(await createTestAi(t, { baseUrl: url }).ask(buildAiRequest()));
  t.ok(Number(retryAfterMs) > 3_500_000 && Number(retryAfterMs) <= 3_600_000, String(retryAfterMs));
});

t.test('An interim answer that was not asked for is skipped', async (t) => {
  for (const interim of [
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 100 Continue\r\nserver: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n',
  ]) {
    const { url, paths } = await startRawAi(t, interim + OK);
    const ai = createTestAi(t, { baseUrl: url });
    for (let call = 0; call < 3; call += 1)
      t.match(await ai.ask(buildAiRequest()), { ok: true, text: 'Titan' }, interim);
    t.equal(paths.length, 3);
  }
});
