import t, { type Test } from 'tap';
import type { AiRequest } from '../../../src/lib/ai/request.ts';
import { askForOutput } from '../../../src/product/executions/result/ask-for-output.ts';
import { buildAiRequest, createTestAi } from '../../support/ai-client.ts';
import { startAnthropicServer } from '../../support/servers/anthropic-server.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    price: { type: 'number', minimum: 1 },
    tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
  },
  required: ['price'],
};
const CLOSED = {
  type: 'object',
  properties: { price: { type: 'number' }, tags: { type: 'array', items: { type: 'string' } } },
  required: ['price'],
  additionalProperties: false,
};

const buildMessage = (text: string, stop_reason = 'end_turn') => ({
  body: {
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [{ type: 'text', text }],
    stop_reason,
    usage: { input_tokens: 1000, output_tokens: 100 },
  },
});

async function start(t: Test) {
  const server = await startAnthropicServer(t);
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: server.url });
  const request = { ...buildAiRequest({ model: 'anthropic/claude-x' }), timeoutMs: 5000 };
  const ask = (schema: NonNullable<AiRequest['outputSchema']> = SCHEMA) => askForOutput(ai, request, { ...schema });
  return { server, ask };
}

t.test('Anthropic is sent the part of the schema that it knows, and the whole is checked', async (t) => {
  const { server, ask } = await start(t);
  server.answer(buildMessage('{"price": 2, "tags": ["a"]}'));
  t.match(await ask(), { ok: true, output: { price: 2, tags: ['a'] }, usage: { inputTokens: 1000 } });
  t.strictSame(server.requests[0]?.body.output_config, { format: { type: 'json_schema', schema: CLOSED } });
  server.answer(buildMessage('{"price": 0}'), buildMessage('{"price": 3}'));
  t.match(await ask(), { ok: true, output: { price: 3 }, usage: { inputTokens: 2000, outputTokens: 200 } });
});

t.test(
  'Answers with prose, fences, wrong types, extra keys or nothing of JSON are repaired once, or fail',
  async (t) => {
    const { server, ask } = await start(t);
    const closed = { ...SCHEMA, additionalProperties: false };
    for (const text of [
      'The price is 3.',
      '```json\n{"price": "3"}\n```',
      '{"price": 3, "vat": 1}',
      '{"price": 3',
      '[3]',
    ]) {
      server.requests.length = 0;
      server.answer(buildMessage(text), buildMessage('So: {"price": 3}.'));
      t.match(await ask(closed), { ok: true, text: '{"price": 3}', output: { price: 3 } }, text);
      server.answer(buildMessage(text));
      t.match(await ask(closed), { ok: false, errorCode: 'INVALID_OUTPUT', usage: { outputTokens: 200 } }, text);
      t.equal(server.requests.length, 4);
    }
    server.answer(buildMessage('{"price": 3', 'max_tokens'));
    t.match(await ask(closed), {
      ok: false,
      message: /cut at 1024 tokens: raise maxTokens/,
      usage: { outputTokens: 100 },
    });
  },
);

t.test('A model that knows no structured outputs is asked without, and remembered', async (t) => {
  const { server, ask } = await start(t);
  const message = 'output_config.format: Extra inputs are not permitted';
  const refusal = { status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message } } };
  server.answer(refusal, buildMessage('{"price": 3}'));
  t.match(await ask(), { ok: true, output: { price: 3 } });
  t.match(await ask(), { ok: true, output: { price: 3 } });
  t.strictSame(
    server.requests.map(({ body }) => 'output_config' in body),
    [true, false, false],
  );
});

t.test('A schema that Anthropic cannot know is not sent, and another refusal is not mistaken for one', async (t) => {
  const { server, ask } = await start(t);
  server.answer(buildMessage('{"price": 3}'));
  t.match(await ask({ type: 'object', additionalProperties: { type: 'number' } }), { ok: true, output: { price: 3 } });
  t.notOk('output_config' in (server.requests[0]?.body ?? {}));
  const error = { type: 'invalid_request_error', message: 'messages: text content blocks must be non-empty' };
  server.answer({ status: 400, body: { type: 'error', error } });
  t.match(await ask(), { ok: false, errorCode: 'INVALID_REQUEST', usage: null });
  t.equal(server.requests.length, 2);
});
