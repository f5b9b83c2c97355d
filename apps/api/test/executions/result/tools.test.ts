import t from 'tap';
import { askForOutput } from '../../../src/product/executions/result/ask-for-output.ts';
import { buildAiRequest, createTestAi, startTestAi } from '../../support/ai-client.ts';
import { citedText, citeResult, searchFor, searchResult } from '../../support/servers/anthropic-message.ts';
import { startAnthropicServer } from '../../support/servers/anthropic-server.ts';

const SCHEMA = { type: 'object', properties: { price: { type: 'number' } }, required: ['price'] };
const SHOP = { url: 'https://shop.example/', title: 'A shop' };
const tools = ['web_search', 'web_fetch'] as const;

t.test('An answer that was searched for is repaired without tools, and keeps its citations', async (t) => {
  const server = await startAnthropicServer(t);
  const ai = createTestAi(t, { anthropicApiKey: 'anthropic-key-1', anthropicBaseUrl: server.url });
  const request = { ...buildAiRequest({ model: 'anthropic/claude-sonnet-4-5', tools }), timeoutMs: 5000 };
  const usage = { input_tokens: 9000, output_tokens: 100, server_tool_use: { web_search_requests: 2 } };
  const searched = (text: string) => ({
    message: { content: [searchFor('x'), searchResult([]), citedText(text, citeResult(SHOP.url, SHOP.title))], usage },
  });
  const plain = (text: string) => ({ message: { content: [{ type: 'text', text }] } });

  server.answer(searched('{"price": 3}'));
  t.match(await askForOutput(ai, request, SCHEMA), { ok: true, output: { price: 3 }, citations: [SHOP] });
  t.equal(server.requests[0]?.body.output_config, undefined, 'citations exclude a format');

  server.answer(searched('It costs three.'), plain('{"price": 3}'));
  const repaired = await askForOutput(ai, request, SCHEMA);
  t.match(repaired, {
    ok: true,
    output: { price: 3 },
    citations: [SHOP],
    usage: { inputTokens: 10_000, outputTokens: 200, toolUses: 2, toolCostUsd: 0.02, costUsd: 0.053 },
  });
  const { body } = server.requests.at(-1) ?? {};
  t.notOk(body?.tools, 'tools that are paid for again');
  t.ok(body?.output_config, 'without tools it can be given the format');

  server.answer(searched('It costs three.'), plain('It really does.'));
  const failed = await askForOutput(ai, request, SCHEMA);
  t.match(failed, { ok: false, errorCode: 'INVALID_OUTPUT', usage: { toolUses: 2, costUsd: 0.053 } });
  t.notOk('citations' in failed);
});

t.test('Through OpenRouter the format and the tools go together, and the repair has the format alone', async (t) => {
  const { server, ai } = await startTestAi(t, { webTools: 'openrouter' });
  const request = { ...buildAiRequest({ tools }), timeoutMs: 5000 };
  const annotations = [{ type: 'url_citation', url_citation: SHOP }];
  server.answer(({ body }) => (body.tools ? { text: '{"price": "3"}', annotations } : { text: '{"price": 3}' }));
  t.match(await askForOutput(ai, request, SCHEMA), { ok: true, output: { price: 3 }, citations: [SHOP] });
  t.same(
    server.requests.map(({ body }) => [
      Boolean(body.tools),
      Boolean(body.max_tool_calls),
      Boolean(body.response_format),
    ]),
    [
      [true, true, true],
      [false, false, true],
    ],
  );
});
