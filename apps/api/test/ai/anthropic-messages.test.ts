import t from 'tap';
import { anthropicMessages } from '../../src/lib/ai/anthropic-messages.ts';
import { ModelReply } from '../../src/lib/ai/reply.ts';
import type { JsonObject } from '../../src/lib/egress/exchange.ts';
import { buildAiRequest } from '../support/ai-client.ts';

const PNG = { name: 'dot.png', mediaType: 'image/png', data: Buffer.from('png') };
const PDF = { name: 'a.pdf', mediaType: 'application/pdf', data: Buffer.from('pdf') };
const prompt = 'Name a moon.';

t.test('The body of a request is exactly this', (t) => {
  const user = '{"role":"user","content":[{"type":"text","text":"Name a moon."}]}';
  const onText = () => {};
  for (const [request, quirks, body] of [
    [{}, {}, `"max_tokens":1024,"temperature":0.7,"messages":[${user}],"stream":false`],
    [
      { system: 'Be brief.', onText, temperature: 150 },
      {},
      `"max_tokens":1024,"temperature":1,"system":[{"type":"text","text":"Be brief."}],"messages":[${user}],"stream":true`,
    ],
    [{}, { noTemperature: true, maxOutputTokens: 512 }, `"max_tokens":512,"messages":[${user}],"stream":false`],
    [
      { maxTokens: 7 },
      { maxOutputTokens: 512 },
      `"max_tokens":7,"temperature":0.7,"messages":[${user}],"stream":false`,
    ],
    [
      { attachments: [PNG, PDF] },
      {},
      '"max_tokens":1024,"temperature":0.7,"messages":[{"role":"user","content":[{"type":"text","text":"Name a moon."},' +
        '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},' +
        '{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"cGRm"},"title":"a.pdf"}]}],"stream":false',
    ],
  ] as const) {
    const sent = JSON.stringify(
      anthropicMessages.buildBody('claude-x', buildAiRequest({ prompt, ...request }), quirks, null),
    );
    t.equal(sent, `{"model":"claude-x",${body}}`);
  }
  t.strictSame(anthropicMessages.buildHeaders('k'), { 'anthropic-version': '2023-06-01', 'x-api-key': 'k' });
  t.end();
});

const CONTENT = [
  { type: 'thinking', thinking: 'Moons …', signature: 'x' },
  { type: 'redacted_thinking', data: 'x' },
  { type: 'text', text: 'Titan, ', citations: null },
  { type: 'server_tool_use', id: 'x', name: 'web_search', input: {} },
  { type: 'from_the_future', text: 'x' },
  null,
  { type: 'text', text: 7 },
  { type: 'text', text: 'Rhea' },
];

t.test('Text blocks are joined, reasoning is separate, and other blocks are ignored', (t) => {
  const reply = new ModelReply();
  t.ok(anthropicMessages.readMessage({ content: CONTENT, model: 'claude-x', stop_reason: 'end_turn' }, reply));
  t.match(reply, { text: 'Titan, Rhea', reasoning: 'Moons …', model: 'claude-x', finishReason: 'stop' });
  t.end();
});

t.test('An answer is read although fields are missing', (t) => {
  for (const [answer, finishReason] of [
    [{ content: [] }, 'stop'],
    [{ content: [], stop_reason: 'max_tokens', usage: null, model: 7 }, 'length'],
    [{ content: [], stop_reason: 'refusal', usage: 7 }, 'content_filter'],
    [{ content: 'none' }, null],
    [{ type: 'error', error: {} }, null],
  ] as [JsonObject, ModelReply['finishReason']][]) {
    const reply = new ModelReply();
    t.equal(anthropicMessages.readMessage(answer, reply), finishReason !== null);
    t.match(reply, { finishReason, text: '', model: '' }, JSON.stringify(answer));
  }
  t.end();
});

t.test('Events of a stream are read like blocks of an answer, and unknown ones are ignored', (t) => {
  const pieces: string[] = [];
  const reply = new ModelReply({ onText: (piece) => pieces.push(piece) });
  const usage = { input_tokens: 10, cache_read_input_tokens: 20, cache_creation_input_tokens: 30, output_tokens: 1 };
  for (const event of [
    { type: 'message_start', message: { model: 'claude-x', content: [], usage } },
    { type: 'ping' },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Moons …' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'x' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{' } },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: 'Tit' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'an' } },
    { type: 'content_block_delta', index: 2, delta: null },
    { type: 'content_block_stop', index: 2 },
    { type: 'from_the_future', delta: { type: 'text_delta', text: 'x' } },
    {},
  ]) {
    anthropicMessages.readEvent(event, reply);
    t.equal(reply.finishReason, null);
  }
  const end = { output_tokens: 40, input_tokens: null, cost: 0.5 };
  anthropicMessages.readEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: end }, reply);
  t.match(reply, { text: 'Titan', reasoning: 'Moons …', model: 'claude-x', finishReason: 'stop' });
  t.strictSame(pieces, ['Tit', 'an']);
  t.equal(reply.usage.cost, 0.5);
  t.strictSame(
    anthropicMessages.readTokenCounts(reply.usage),
    { inputTokens: 60, outputTokens: 40, cacheReadTokens: 20, cacheWriteTokens: 30 },
    'what was cached is a part of the input',
  );
  t.end();
});

t.test('A message that stops without a reason is complete', (t) => {
  const reply = new ModelReply();
  anthropicMessages.readEvent({ type: 'message_start' }, reply);
  t.match(reply, { started: true, finishReason: null });
  anthropicMessages.readEvent({ type: 'message_stop' }, reply);
  t.equal(reply.finishReason, 'stop');
  t.end();
});
