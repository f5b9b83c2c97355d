import t from 'tap';
import { chatCompletions } from '../../src/lib/ai/chat-completions.ts';
import { ModelReply } from '../../src/lib/ai/reply.ts';
import type { JsonObject } from '../../src/lib/egress/exchange.ts';
import { buildAiRequest } from '../support/ai-client.ts';

const PNG = { name: 'dot.png', mediaType: 'image/PNG; a=b', data: Buffer.from('png') };
const PDF = { name: 'a "b".pdf', mediaType: 'application/pdf', data: Buffer.from('pdf') };
const prompt = 'Say "hi" – 🌍';

t.test('The body of a request is exactly this', (t) => {
  const user = '{"role":"user","content":"Say \\"hi\\" – 🌍"}';
  const onText = () => {};
  for (const [request, quirks, body] of [
    [{}, {}, `"max_tokens":1024,"temperature":0.7,"messages":[${user}],"stream":false`],
    [{ temperature: 0, maxTokens: 1 }, {}, `"max_tokens":1,"temperature":0,"messages":[${user}],"stream":false`],
    [{}, { maxOutputTokens: 512 }, `"max_tokens":512,"temperature":0.7,"messages":[${user}],"stream":false`],
    [
      { system: 'Be brief.' },
      {},
      `"max_tokens":1024,"temperature":0.7,"messages":[{"role":"system","content":"Be brief."},${user}],"stream":false`,
    ],
    [
      { onText },
      {},
      `"max_tokens":1024,"temperature":0.7,"messages":[${user}],"stream":true,"stream_options":{"include_usage":true}`,
    ],
    [
      { onText, system: 'Be brief.' },
      { noMaxTokens: true, noTemperature: true, noStreamOptions: true, noSystemRole: true },
      `"max_completion_tokens":1024,"messages":[{"role":"user","content":"Be brief.\\n\\nSay \\"hi\\" – 🌍"}],"stream":true`,
    ],
    [
      { attachments: [PNG, PDF] },
      {},
      '"max_tokens":1024,"temperature":0.7,"messages":[{"role":"user","content":[' +
        '{"type":"text","text":"Say \\"hi\\" – 🌍"},' +
        '{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}},' +
        '{"type":"file","file":{"filename":"a \\"b\\".pdf","file_data":"data:application/pdf;base64,cGRm"}}]}],"stream":false',
    ],
  ] as const) {
    const sent = JSON.stringify(chatCompletions.buildBody('m/1', buildAiRequest({ prompt, ...request }), quirks, null));
    t.equal(sent, `{"model":"m/1",${body}}`);
  }
  t.end();
});

/** The reply of a whole answer; null if it is not one. */
function whole(answer: unknown) {
  const reply = new ModelReply();
  return chatCompletions.readMessage(answer as JsonObject, reply) ? reply : null;
}

t.test('An answer is read although fields are missing, and fields of another type are ignored', (t) => {
  const message = { content: 'Titan' };
  for (const [answer, expected] of [
    [{ choices: [{ message }] }, { text: 'Titan', reasoning: '', model: '', finishReason: 'stop' }],
    [
      { choices: [{ message, finish_reason: 7 }], model: 7, usage: 7 },
      { text: 'Titan', model: '', finishReason: 'stop' },
    ],
    [
      { choices: [{ message: {} }], usage: null, model: null },
      { text: '', finishReason: 'stop' },
    ],
    [{ choices: [{ message: { content: null, reasoning: 'So …' } }] }, { text: '', reasoning: 'So …' }],
    [{ choices: [{ message: { ...message, reasoning_content: 'So', reasoning: 'So' } }] }, { reasoning: 'So' }],
    [{ choices: [{ message: { ...message, reasoning: {}, refusal: false, tool_calls: {} } }] }, { text: 'Titan' }],
    [{ choices: [{ message }, { message: { content: 'Rhea' } }] }, { text: 'Titan' }],
    [
      { choices: [{ message: { refusal: 'No.' }, finish_reason: 'stop' }] },
      { text: 'No.', finishReason: 'content_filter' },
    ],
    [{ choices: [{ message, finish_reason: 'content_filter' }] }, { finishReason: 'content_filter' }],
    [{ choices: [{ message, finish_reason: 'error' }] }, { finishReason: 'error' }],
    [{ choices: [{ message, finish_reason: '__proto__' }] }, { finishReason: 'stop' }],
  ] as const) {
    t.match(whole(answer), expected, JSON.stringify(answer));
  }
  for (const answer of [{}, { choices: null }, { choices: {} }, { choices: [] }, { choices: [null] }]) {
    t.equal(whole(answer), null, JSON.stringify(answer));
  }
  for (const message of [null, undefined, 'Titan', 7]) t.equal(whole({ choices: [{ message }] }), null);
  t.end();
});

t.test('Content parts are joined, reasoning is separate, and other parts are ignored', (t) => {
  const content = [
    { type: 'thinking', thinking: [{ type: 'text', text: 'Moons …' }, null, { type: 'reference' }] },
    { type: 'text', text: 'Titan, ' },
    { type: 'image_url', image_url: { url: 'data:,' } },
    'Rhea',
    null,
    { type: 'text', text: 7 },
    { type: 'text', text: 'Rhea' },
  ];
  t.match(whole({ choices: [{ message: { content } }] }), { text: 'Titan, Rhea', reasoning: 'Moons …' });
  t.end();
});

t.test('Counts of another type count as missing', (t) => {
  for (const [usage, expected] of [
    [{}, [0, 0, 0]],
    [{ prompt_tokens: null, completion_tokens: '7', prompt_tokens_details: null }, [0, 0, 0]],
    [{ prompt_tokens: 9, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 4 } }, [9, 7, 4]],
    [{ prompt_tokens: -1, completion_tokens: 1.5, prompt_tokens_details: [] }, [0, 0, 0]],
  ] as const) {
    const { inputTokens, outputTokens, cacheReadTokens } = chatCompletions.readTokenCounts(usage);
    t.strictSame([inputTokens, outputTokens, cacheReadTokens], expected, JSON.stringify(usage));
  }
  t.end();
});
