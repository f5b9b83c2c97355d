import t from 'tap';
import { anthropicMessages } from '../../../src/lib/ai/anthropic-messages.ts';
import { chatCompletions } from '../../../src/lib/ai/chat-completions.ts';
import { ModelReply } from '../../../src/lib/ai/reply.ts';
import type { AiRequest } from '../../../src/lib/ai/request.ts';
import { buildAiRequest } from '../../support/ai-client.ts';

const prompt = 'Name a moon.';
const SCHEMA = {
  type: 'object',
  properties: { moon: { type: 'string' } },
  required: ['moon'],
  additionalProperties: false,
};

const buildBody = (protocol: typeof anthropicMessages, given: Partial<AiRequest>) => {
  const request = buildAiRequest({ prompt, ...given });
  return JSON.stringify(protocol.buildBody('m/1', request, {}, new ModelReply(request).turn));
};

t.test('The tools of OpenRouter share one limit, and use engines that keep to it', async (t) => {
  const start =
    '{"model":"m/1","max_tokens":1024,"temperature":0.7,"messages":[{"role":"user","content":"Name a moon."}]';
  const search = (uses: number) =>
    `{"type":"openrouter:web_search","parameters":{"engine":"exa","max_uses":${uses},"max_results":5,"max_total_results":${5 * uses},"max_characters":4000}}`;
  const fetch = (uses: number) =>
    `{"type":"openrouter:web_fetch","parameters":{"engine":"openrouter","max_uses":${uses},"max_content_tokens":20000}}`;
  const format =
    '"response_format":{"type":"json_schema","json_schema":{"name":"output","strict":true,"schema":{"type":"object","properties":{"moon":{"type":"string"}},"required":["moon"],"additionalProperties":false}}}';
  for (const [request, rest] of [
    [{}, ''],
    [{ tools: [], maxToolUses: 3 }, ''],
    [{ tools: ['web_search'] }, `,"tools":[${search(5)}],"max_tool_calls":5`],
    [{ tools: ['web_fetch'], maxToolUses: 1 }, `,"tools":[${fetch(1)}],"max_tool_calls":1`],
    [
      { tools: ['web_search', 'web_fetch'], maxToolUses: 20, outputSchema: SCHEMA, onText: () => {} },
      `,${format},"tools":[${search(20)},${fetch(20)}],"max_tool_calls":20,"stream":true,"stream_options":{"include_usage":true}`,
    ],
  ] as [Partial<AiRequest>, string][]) {
    t.equal(
      buildBody(chatCompletions, request),
      `${start}${rest}${rest.includes('"stream"') ? '' : ',"stream":false'}}`,
    );
  }
});

t.test("Anthropic's tools have a limit each, and go without a format, which excludes citations", async (t) => {
  const start =
    '{"model":"m/1","max_tokens":1024,"temperature":0.7,"messages":[{"role":"user","content":[{"type":"text","text":"Name a moon."}]}]';
  const search = (uses: number) => `{"type":"web_search_20250305","name":"web_search","max_uses":${uses}}`;
  const fetch = (uses: number) =>
    `{"type":"web_fetch_20250910","name":"web_fetch","max_uses":${uses},"citations":{"enabled":true},"max_content_tokens":20000}`;
  for (const [request, rest] of [
    [{}, ''],
    [{ tools: [], maxToolUses: 3 }, ''],
    [{ tools: ['web_search'] }, `,"tools":[${search(5)}]`],
    [{ tools: ['web_fetch'], maxToolUses: 1 }, `,"tools":[${fetch(1)}]`],
    [
      { tools: ['web_search', 'web_fetch'], maxToolUses: 7, outputSchema: SCHEMA, onText: () => {} },
      `,"tools":[${search(4)},${fetch(3)}],"stream":true`,
    ],
  ] as [Partial<AiRequest>, string][]) {
    t.equal(
      buildBody(anthropicMessages, request),
      `${start}${rest}${rest.includes('"stream"') ? '' : ',"stream":false'}}`,
    );
  }
});
