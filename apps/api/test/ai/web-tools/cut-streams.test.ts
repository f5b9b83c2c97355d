import t from 'tap';
import { anthropicMessages } from '../../../src/lib/ai/anthropic-messages.ts';
import { chatCompletions } from '../../../src/lib/ai/chat-completions.ts';
import { createReplyReader, ModelReply, type Protocol } from '../../../src/lib/ai/reply.ts';
import {
  buildEvents,
  citedText,
  citeResult,
  fetchedPage,
  fetchPage,
  searchFor,
  searchResult,
} from '../../support/servers/anthropic-message.ts';

const URL = 'https://example.com/größe';
const TITLE = 'Größe 🚀';
const toStream = (events: object[]) =>
  Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
const choice = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
});

const STREAMS: { name: string; protocol: Protocol; bytes: Buffer; content?: object[] }[] = [false, true].map(
  (pauses) => {
    const content = [
      { type: 'thinking', thinking: 'Größe?', signature: 'EqQB' },
      { type: 'text', text: 'Ich suche …' },
      searchFor('Größe 🚀'),
      searchResult([]),
      fetchPage(URL),
      fetchedPage(URL, TITLE),
      citedText('Größe 🚀', citeResult(URL, TITLE)),
    ];
    const events = buildEvents('claude-x', { content, stop_reason: pauses ? 'pause_turn' : 'end_turn' });
    return { name: pauses ? 'a pause' : 'an end', protocol: anthropicMessages, bytes: toStream(events), content };
  },
);
STREAMS.push({
  name: 'annotations',
  protocol: chatCompletions,
  bytes: toStream([
    choice({ role: 'assistant', content: '' }),
    choice({ content: 'Größe ' }),
    choice({ content: '🚀', annotations: [{ type: 'url_citation', url_citation: { url: URL, title: TITLE } }] }),
    choice({}, 'stop'),
    { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, server_tool_use: { web_search_requests: 1 } } },
  ]),
});

function read(protocol: Protocol, chunks: readonly Buffer[]) {
  let streamed = '';
  const reply = new ModelReply({
    tools: ['web_search', 'web_fetch'],
    onText: (piece) => {
      streamed += piece;
    },
  });
  const reader = createReplyReader(protocol, { 'content-type': 'text/event-stream' }, reply);
  for (const chunk of chunks) if (reader.read(chunk)) return { error: 'unreadable', reply, streamed };
  const error = reader.end();
  reply.turn?.endMessage();
  return { error: error?.kind ?? null, reply, streamed };
}

const summarize = ({ error, reply, streamed }: ReturnType<typeof read>) => ({
  error,
  streamed,
  answer: reply.answer,
  sources: reply.sources.toArray(),
  usage: reply.usage,
  toolUses: reply.toolUses,
  content: reply.turn?.content,
});

for (const { name, protocol, bytes, content = [] } of STREAMS) {
  t.test(`A stream with ${name} that arrives in pieces of any size is read alike`, async (t) => {
    const whole = summarize(read(protocol, [bytes]));
    t.match(whole, { error: null, answer: 'Größe 🚀', content });
    t.same(whole.content, content);
    t.same(whole.sources, [{ url: 'https://example.com/gr%C3%B6%C3%9Fe', title: TITLE }]);
    const differing: number[] = [];
    for (let at = 1; at < bytes.length; at += 1) {
      const parts = summarize(read(protocol, [bytes.subarray(0, at), bytes.subarray(at)]));
      if (JSON.stringify(parts) !== JSON.stringify(whole)) differing.push(at);
    }
    t.same(differing, []);
  });

  t.test(`A stream with ${name} that breaks off anywhere has no end, and nothing that was not sent`, async (t) => {
    const whole = read(protocol, [bytes]);
    const wrong: number[] = [];
    let complete = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const { error, reply, streamed } = read(protocol, [bytes.subarray(0, at)]);
      if (error === null) complete += 1;
      const isPart = whole.streamed.startsWith(streamed) && reply.sources.toArray().length <= 1;
      const hasFinished = error !== null || reply.answer === whole.reply.answer;
      if (!isPart || !hasFinished) wrong.push(at);
    }
    t.same(wrong, []);
    t.ok(complete < bytes.length / 3, `complete at ${complete} of ${bytes.length} bytes`);
  });
}
