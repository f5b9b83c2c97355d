import t from 'tap';
import { anthropicMessages } from '../../src/ai/anthropic-messages.ts';
import { chatCompletions } from '../../src/ai/chat-completions.ts';
import { readerOf } from '../../src/ai/readers.ts';
import { Heard, type Protocol } from '../../src/ai/reply.ts';
import { provided } from '../support/ai-client.ts';

/** What is heard of a stream that comes in these pieces, and the fault that ended it. */
function streamed(protocol: Protocol, pieces: readonly Uint8Array[], type = 'text/event-stream') {
  const heard = new Heard(() => {});
  const reader = readerOf(protocol, { 'content-type': type }, heard, true);
  for (const piece of pieces) {
    const fault = reader.take(Buffer.from(piece));
    if (fault) return { heard, fault };
  }
  return { heard, fault: reader.end() };
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
const told = { text: 'Tïtan 🪐\n', model: 'm', ending: 'whole', usage: { prompt_tokens: 5, cost: 0.25 } };

t.test('a stream is read however it is cut, inside of a character too', (t) => {
  for (const end of ['\n', '\r\n', '\r']) {
    const bytes = Buffer.from(lines.join(end));
    t.match(streamed(chatCompletions, [bytes]), { heard: told, fault: null }, JSON.stringify(end));
    t.match(
      streamed(
        chatCompletions,
        Array.from(bytes, (byte) => Uint8Array.of(byte)),
      ),
      { heard: told, fault: null },
      'byte by byte',
    );
    for (let at = 1; at < bytes.length; at += 1) {
      const { heard, fault } = streamed(chatCompletions, [bytes.subarray(0, at), bytes.subarray(at)]);
      if (heard.text !== told.text || heard.usage.cost !== 0.25 || fault !== null) t.fail(`cut at ${at}`);
    }
  }
  t.end();
});

t.test('an error that comes as an event ends a stream, in whichever dialect', (t) => {
  for (const [protocol, error] of [
    [chatCompletions, { error: { code: 502, message: 'Gone.' } }],
    [chatCompletions, { error: 'Gone.' }],
    [chatCompletions, { error: { code: 502 }, choices: [{ delta: { content: '' }, finish_reason: 'error' }] }],
    [chatCompletions, { object: 'error', message: 'Gone.', code: 502 }],
    [anthropicMessages, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }],
  ] as const) {
    const event = Buffer.from(`event: error\ndata: ${JSON.stringify(error)}\n\n${delta('more')}\n\n`);
    const { heard, fault } = streamed(protocol, [event]);
    t.strictSame(fault, { kind: 'told', event: error });
    t.equal(heard.text, '', 'nothing is read after it');
  }
  const none = Buffer.from(`data: {"error": null, "choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n`);
  t.equal(streamed(chatCompletions, [none]).fault, null, 'null is no error');
  t.end();
});

t.test('a stream that does not say its end is no whole answer', (t) => {
  const fault = (protocol: Protocol, text: string) => streamed(protocol, [Buffer.from(text)]).fault;
  t.match(fault(chatCompletions, ''), { kind: 'unusable' });
  t.match(fault(chatCompletions, `${delta('Titan')}\n\n`), { kind: 'unusable' });
  t.equal(fault(chatCompletions, `${delta('Titan')}\n\ndata: [DONE]\n\n`), null, 'one of its two ends is enough');
  t.match(fault(anthropicMessages, 'data: {"type": "message_start"}\n\n'), { kind: 'broken', sent: true });
  t.match(fault(anthropicMessages, '<html>'), { kind: 'unusable' });
  t.end();
});

t.test('events of odd kinds are left, and one that is no JSON ends the stream', (t) => {
  const odd = ['null', '7', '[]', '{}', '{"choices": 7}', '{"choices": [{"delta": []}]}', '{"choices": [null]}'];
  for (const protocol of [chatCompletions, anthropicMessages]) {
    const { heard, fault } = streamed(protocol, [Buffer.from(odd.map((data) => `data: ${data}\n\n`).join(''))]);
    t.match({ fault, heard }, { fault: { kind: 'unusable' }, heard: { text: '', ending: null } });
  }
  t.strictSame(streamed(chatCompletions, [Buffer.from('data: {"choi\n\n')]).fault, {
    kind: 'unusable',
    body: '{"choi',
  });
  t.end();
});

t.test('an answer in one piece is one, whatever was asked for', (t) => {
  const message = Buffer.from('\uFEFF{"type": "message", "content": [{"type": "text", "text": "Titan 🪐"}]}');
  for (const at of [message.length, 70]) {
    const pieces = [message.subarray(0, at), message.subarray(at)];
    const { heard, fault } = streamed(anthropicMessages, pieces, 'application/json; charset=utf-8');
    t.match({ fault, text: heard.text }, { fault: null, text: 'Titan 🪐' });
  }
  t.end();
});

t.test('who fails to take the text gets a failure, and the next call an answer', async (t) => {
  const { server, ask } = await provided(t);
  server.answer(() => ({ text: 'Titan is large' }));
  const onText = () => {
    throw new Error('no room');
  };
  t.match(await ask({ onText }), { ok: false });
  t.ok((await ask()).ok);
});
