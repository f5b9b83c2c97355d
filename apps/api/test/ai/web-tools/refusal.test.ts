import t from 'tap';
import type { AiRequest } from '../../../src/lib/ai/request.ts';
import { buildAiRequest, createTestAi, startTestAi, toFailure } from '../../support/ai-client.ts';
import { startAnthropicServer } from '../../support/servers/anthropic-server.ts';

const tools = ['web_search', 'web_fetch'] as const;
const NAMED = /tools web_search and web_fetch were refused: choose another model, or take the tools off the task\. .*/;

t.test('A model whose service has no such tools is not asked', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const [name, outcome] of [
    ['another service', await ask({ tools })],
    ['switched off', await createTestAi(t, { baseUrl: server.url, webTools: 'none' }).ask(buildAiRequest({ tools }))],
    ['the offline model', await createTestAi(t).ask(buildAiRequest({ tools }))],
  ] as const) {
    t.match(
      toFailure(outcome),
      {
        errorCode: 'INVALID_REQUEST',
        message: /does not have the tools web_search and web_fetch: choose another model/,
        retryable: false,
        usage: null,
      },
      name,
    );
  }
  t.equal(server.requests.length, 0);
  t.ok((await ask({ tools: [] })).ok);
});

t.test('A refusal of the tools names them, and the model is not asked again without', async (t) => {
  const { server, ask } = await startTestAi(t, { webTools: 'openrouter' });
  for (const [status, message] of [
    [404, 'No endpoints found that support tool use. To learn more about provider routing, visit: …'],
    [400, "Unsupported parameter: 'tools' is not supported with this model."],
    [400, 'Extra inputs are not permitted: max_tool_calls'],
    [403, 'The web search engine exa is not allowed in this workspace'],
    [422, 'function calling is not enabled'],
  ] as const) {
    for (const onText of [undefined, () => {}]) {
      server.requests.length = 0;
      server.answer(() => ({ status, body: { error: { message, code: status } } }));
      const failure = toFailure(await ask({ tools, onText }));
      t.match(failure, { errorCode: 'INVALID_REQUEST', message: NAMED, retryable: false, usage: null }, message);
      t.ok(failure.message.includes(message.slice(0, 40)) && failure.message.length <= 500, failure.message);
      t.equal(server.requests.length, 1);
    }
  }
  for (const [status, message, errorCode] of [
    [429, 'Too many tool calls', 'RATE_LIMIT_EXCEEDED'],
    [502, 'web search failed', 'PROVIDER_UNAVAILABLE'],
    [400, 'The context is too long', 'INVALID_REQUEST'],
  ] as const) {
    server.answer(() => ({ status, body: { error: { message } } }));
    const failure = toFailure(await ask({ tools }));
    t.equal(failure.errorCode, errorCode);
    t.notMatch(failure.message, NAMED);
  }
  server.answer(() => ({ status: 400, body: { error: { message: 'tools: no' } } }));
  t.notMatch(toFailure(await ask()).message, /were refused/, 'nor in a call without tools');
});

t.test('A long refusal is cut, and shows no key', async (t) => {
  const { server, ask } = await startTestAi(t, { webTools: 'openrouter', apiKey: 'sk-operator-key-1' });
  const message = `tools refused for sk-operator-key-1 ${'x'.repeat(1000)}`;
  server.answer(() => ({ status: 400, body: { error: { message } } }));
  const failure = toFailure(await ask({ tools }));
  t.match(failure.message, NAMED);
  t.equal(failure.message.length, 500);
  t.notMatch(failure.message, 'sk-operator-key-1');
});

t.test('Claude that does not take a tool is named too', async (t) => {
  const anthropic = await startAnthropicServer(t);
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: anthropic.url });
  const message = "'claude-x' does not support tool types: web_search_20250305. Did you mean one of …?";
  const body = { type: 'error', error: { type: 'invalid_request_error', message } };
  anthropic.answer({ status: 400, body });
  const failure = toFailure(await ai.ask(buildAiRequest({ model: 'anthropic/claude-x', tools })));
  t.match(failure, { errorCode: 'INVALID_REQUEST', message: NAMED });
  t.equal(anthropic.requests.length, 1);
});

t.test('A service that hands the tools back to us does not run them', async (t) => {
  const { server, ask } = await startTestAi(t, { webTools: 'openrouter' });
  const tool_calls = [{ index: 0, id: 'call_1', type: 'function', function: { name: 'web_search', arguments: '{}' } }];
  const message = { role: 'assistant', content: null, tool_calls };
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
  server.answer(() => ({ body: { choices, usage: { prompt_tokens: 100, completion_tokens: 10 } } }));
  t.match(toFailure(await ask({ tools: ['web_search'] })), {
    errorCode: 'INVALID_REQUEST',
    message: /does not run the tools web_search itself/,
    retryable: false,
    usage: { inputTokens: 100 },
  });
});

t.test('A model that takes a format or tools, not both, is asked for the format by instructions alone', async (t) => {
  const { server, ask } = await startTestAi(t, { webTools: 'openrouter' });
  const outputSchema = { type: 'object', properties: { moon: { type: 'string' } } };
  const message = "Function calling with a response mime type: 'application/json' is unsupported";
  server.answer(({ body }) =>
    body.response_format && body.tools ? { status: 400, body: { error: { message } } } : { text: '{"moon": "Titan"}' },
  );
  const asked: Partial<AiRequest>[] = [{ tools, outputSchema }, { tools, outputSchema }, { outputSchema }];
  for (const request of asked) t.match(await ask(request), { ok: true, text: '{"moon": "Titan"}' });
  t.same(
    server.requests.map(({ body }) => [Boolean(body.tools), (body.response_format as { type?: string })?.type]),
    [
      [true, 'json_schema'],
      [true, 'json_object'],
      [true, undefined],
      [true, undefined],
      [false, 'json_schema'],
    ],
  );
});
