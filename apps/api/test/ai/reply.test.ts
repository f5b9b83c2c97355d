import t from 'tap';
import { anthropicMessages } from '../../src/lib/ai/anthropic-messages.ts';
import { chatCompletions } from '../../src/lib/ai/chat-completions.ts';
import { createReplyReader, ModelReply, type Protocol } from '../../src/lib/ai/reply.ts';
import { startTestAi } from '../support/ai-client.ts';

/** The reply of a stream that arrives in these pieces, and the error that ended it. */
function streamed(protocol: Protocol, pieces: readonly Uint8Array[], type = 'text/event-stream') {
  const reply = new ModelReply({ onText: () => {} });
  const reader = createReplyReader(protocol, { 'content-type': type }, reply);
  for (const piece of pieces) {
    const error = reader.read(Buffer.from(piece));
    if (error) return { reply, error };
  }
  return { reply, error: reader.end() };
}

const delta = (content: string) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}`;
const lines = [
  ': PROCESSING',
  '',
  'event: chunk',
  'id: 7',
  delta('Tïtan '),
  '',
  'data:',
  `data: ${JSON.stringify({ model: 'm', choices: [] })}`,
  '',
  delta('🪐'),
  'retry: 10',
  '',
  'data: {"choices": [{"delta": {"content": "\\n"},',
  'data: "finish_reason": "stop"}]}',
  '',
  'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 6, "cost": 0.25}}',
  '',
  'data: [DONE]',
  '',
  '',
];
const expected = { text: 'Tïtan 🪐\n', model: 'm', finishReason: 'stop', usage: { prompt_tokens: 5, cost: 0.25 } };

t.test('A stream is read wherever its bytes are cut, also inside a character', (t) => {
  for (const end of ['\n', '\r\n', '\r']) {
    const bytes = Buffer.from(lines.join(end));
    t.match(streamed(chatCompletions, [bytes]), { reply: expected, error: null }, JSON.stringify(end));
    t.match(
      streamed(
        chatCompletions,
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      ),
      { reply: expected, error: null },
      'byte by byte',
    );
    for (let at = 1; at < bytes.length; at += 1) {
      const { reply, error } = streamed(chatCompletions, [bytes.subarray(0, at), bytes.subarray(at)]);
      if (reply.text !== expected.text || reply.usage.cost !== 0.25 || error !== null) t.fail(`cut at ${at}`);
    }
  }
  t.end();
});

t.test('An error event ends a stream, in the form of each protocol', (t) => {
  for (const [protocol, sent] of [
    [chatCompletions, { error: { code: 502, message: 'Gone.' } }],
    [chatCompletions, { error: 'Gone.' }],
    [chatCompletions, { error: { code: 502 }, choices: [{ delta: { content: '' }, finish_reason: 'error' }] }],
    [chatCompletions, { object: 'error', message: 'Gone.', code: 502 }],
    [anthropicMessages, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
  ] as const) {
    const event = Buffer.from(`event: error\ndata: ${JSON.stringify(sent)}\n\n${delta('more')}\n\n`);
    const { reply, error } = streamed(protocol, [event]);
    t.match(error, { kind: 'reported', error: sent });
    t.equal(reply.text, '', 'nothing is read after it');
  }
  for (const error of ['null', '{}', '""', 'false']) {
    const noError = Buffer.from(`data: {"error": ${error}, "choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n`);
    t.equal(streamed(chatCompletions, [noError]).error, null, `${error} is not an error`);
  }
  t.end();
});

t.test('A stream that does not announce its end is not a complete answer', (t) => {
  const error = (protocol: Protocol, text: string) => streamed(protocol, [Buffer.from(text)]).error;
  t.match(error(chatCompletions, ''), { kind: 'unreadable' });
  t.match(error(chatCompletions, `${delta('Titan')}\n\n`), { kind: 'connection', sent: true });
  t.equal(error(chatCompletions, `${delta('Titan')}\n\ndata: [DONE]\n\n`), null, 'one of its two ends is enough');
  t.match(error(anthropicMessages, 'data: {"type": "message_start"}\n\n'), { kind: 'connection', sent: true });
  t.match(error(anthropicMessages, '<html>'), { kind: 'unreadable' });
  t.end();
});

t.test('Unexpected events are ignored, and one that is not JSON ends the stream', (t) => {
  const odd = ['null', '7', '[]', '{}', '{"choices": 7}', '{"choices": [{"delta": []}]}', '{"choices": [null]}'];
  for (const protocol of [chatCompletions, anthropicMessages]) {
    const { reply, error } = streamed(protocol, [Buffer.from(odd.map((data) => `data: ${data}\n\n`).join(''))]);
    t.match({ error, reply }, { error: { kind: 'unreadable' }, reply: { text: '', finishReason: null } });
  }
  t.strictSame(streamed(chatCompletions, [Buffer.from('data: {"choi\n\n')]).error, {
    kind: 'unreadable',
    body: '{"choi',
  });
  t.end();
});

t.test('A whole JSON answer is accepted although a stream was requested', (t) => {
  const message = Buffer.from('\uFEFF{"type": "message", "content": [{"type": "text", "text": "Titan 🪐"}]}');
  for (const at of [message.length, 70]) {
    const pieces = [message.subarray(0, at), message.subarray(at)];
    const { reply, error } = streamed(anthropicMessages, pieces, 'application/json; charset=utf-8');
    t.match({ error, text: reply.text }, { error: null, text: 'Titan 🪐' });
  }
  t.end();
});

t.test('An onText that throws fails its call and not the next one', async (t) => {
  const { server, ask } = await startTestAi(t);
  server.answer(() => ({ text: 'Titan is large' }));
  const onText = () => {
    throw new Error('no room');
  };
  t.match(await ask({ onText }), { ok: false });
  t.ok((await ask()).ok);
});
