import t from 'tap';
import { toArray } from '../../../src/lib/egress/exchange.ts';
import { toFailure } from '../../support/ai-client.ts';
import { startClaude } from '../../support/claude.ts';
import {
  citedText,
  citeResult,
  fetchedPage,
  fetchPage,
  foundPage,
  searchFor,
  searchResult,
} from '../../support/servers/anthropic-message.ts';

const TITAN = 'https://example.com/titan';
const RHEA = 'https://example.org/rhea';
const FIRST = [
  { type: 'thinking', thinking: 'Let me see …', signature: 'EqQB' },
  { type: 'text', text: 'I search.' },
  searchFor('largest moon'),
  searchResult([foundPage(TITAN, 'Titan')]),
  citedText('Titan it is.', citeResult(TITAN, 'Titan')),
  fetchPage(RHEA),
  fetchedPage(RHEA, 'Rhea'),
];
const LAST = [{ type: 'text', text: 'The largest is ' }, citedText('Titan', citeResult(RHEA, 'Rhea'))];
const usage = (input_tokens: number, web_search_requests: number, web_fetch_requests = 0) => ({
  input_tokens,
  output_tokens: 100,
  server_tool_use: { web_search_requests, web_fetch_requests },
});
const paused = { message: { content: FIRST, stop_reason: 'pause_turn', usage: usage(9000, 1, 1) } };

/** A promise of the moment when so many requests have arrived. */
async function untilRequests({ requests }: { requests: object[] }, count: number) {
  while (requests.length < count) await new Promise((resolve) => setImmediate(resolve));
}

t.test('A paused answer is sent back as it came and goes on, with what is left of the uses', async (t) => {
  const { anthropic, ask } = await startClaude(t);
  for (const isStreamed of [false, true]) {
    let streamed = '';
    const onText = (piece: string) => {
      streamed += piece;
    };
    anthropic.requests.length = 0;
    anthropic.answer(paused, { message: { content: LAST, usage: usage(12_000, 1) } });
    const { durationMs: _, ...outcome } = await ask(isStreamed ? { onText } : {});
    t.same(outcome, {
      ok: true,
      text: 'The largest is Titan',
      citations: [
        { url: RHEA, title: 'Rhea' },
        { url: TITAN, title: 'Titan' },
      ],
      usage: {
        model: 'claude-sonnet-4-5-20250929',
        provider: 'anthropic',
        inputTokens: 21_000,
        outputTokens: 200,
        estimated: false,
        costUsd: 0.086,
        toolUses: 3,
        searches: 2,
        toolCostUsd: 0.02,
      },
    });
    t.equal(streamed, isStreamed ? 'I search.\n\nTitan it is.\n\nThe largest is Titan' : '');
    const [first, second] = anthropic.requests.map(({ body }) => body);
    t.same(second?.messages, [...toArray(first?.messages), { role: 'assistant', content: FIRST }]);
    t.match(second?.tools, [
      { name: 'web_search', max_uses: 2 },
      { name: 'web_fetch', max_uses: 1 },
    ]);
    t.notOk(second && 'tool_choice' in second);
    const { messages: __, tools: ___, ...rest } = second ?? {};
    t.match(first, rest, 'everything else is as it was');
  }
});

t.test('An answer that pauses twice is sent back whole, and tools that are used up are not offered', async (t) => {
  const { anthropic, ask } = await startClaude(t);
  const search = [searchFor('more', 'srvtoolu_9'), searchResult([], 'srvtoolu_9')];
  const more = { content: search, stop_reason: 'pause_turn', usage: usage(10_000, 1) };
  anthropic.answer(paused, { message: more }, { message: { content: LAST, usage: { input_tokens: 12_000 } } });
  t.match(await ask({ maxToolUses: 3 }), { ok: true, usage: { inputTokens: 31_000, toolUses: 3, toolCostUsd: 0.02 } });
  const [, second, third] = anthropic.requests.map(({ body }) => body);
  t.match(second?.tools, [{ max_uses: 1 }, { max_uses: 1 }]);
  t.notOk(second && 'tool_choice' in second);
  t.same(third?.tool_choice, { type: 'none' });
  t.same(toArray(third?.messages)[1], { role: 'assistant', content: [...FIRST, ...more.content] });
});

t.test('A search that a pause interrupts may still be made', async (t) => {
  const { anthropic, ask } = await startClaude(t);
  const content = [searchFor('largest moon')];
  for (const onText of [undefined, () => {}]) {
    anthropic.requests.length = 0;
    const cut = { message: { content, stop_reason: 'pause_turn', usage: usage(1000, 0) } };
    anthropic.answer(cut, { message: { content: [searchResult([]), ...LAST], usage: usage(9000, 1) } });
    const outcome = await ask({ maxToolUses: 1, tools: ['web_search'], onText });
    t.match(outcome, { ok: true, text: 'The largest is Titan', usage: { inputTokens: 10_000, toolUses: 1 } });
    const { body } = anthropic.requests[1] ?? {};
    t.match(body, { messages: [{}, { role: 'assistant', content }], tools: [{ name: 'web_search', max_uses: 1 }] });
    t.notOk(body && 'tool_choice' in body);
  }
});

t.test('The parts of an answer are one text, in which no character is split', async (t) => {
  const { anthropic, ask } = await startClaude(t);
  let streamed = '';
  const onText = (piece: string) => {
    streamed += piece;
  };
  const first = { content: [{ type: 'text', text: 'A \uD83D' }], stop_reason: 'pause_turn' };
  anthropic.answer({ message: first }, { message: { content: [{ type: 'text', text: '\uDE80.' }] } });
  t.match(await ask({ onText }), { ok: true, text: 'A 🚀.' });
  t.equal(streamed, 'A 🚀.');
});

t.test('A part whose tokens are not counted has the results of all parts as input', async (t) => {
  const { anthropic, ask } = await startClaude(t);
  anthropic.answer(paused, { message: { content: LAST, usage: {} } });
  const { usage } = await ask();
  t.match(usage, { toolUses: 2, estimated: true });
  t.ok(Number(usage?.inputTokens) > 29_000, `${usage?.inputTokens}`);
});

t.test('An answer that pauses for ever ends, and all of its parts are booked', async (t) => {
  const { anthropic, ask } = await startClaude(t);
  anthropic.answer(paused);
  for (const [maxToolUses, tools, calls] of [
    [1, ['web_search'], 2],
    [3, ['web_search', 'web_fetch'], 4],
  ] as const) {
    anthropic.requests.length = 0;
    t.match(toFailure(await ask({ maxToolUses, tools })), {
      errorCode: 'PROVIDER_ERROR',
      message: /maxToolUses/,
      retryable: false,
      usage: { inputTokens: 9000 * calls, outputTokens: 100 * calls, toolUses: 2 * calls },
    });
    t.equal(anthropic.requests.length, calls);
  }
  anthropic.requests.length = 0;
  anthropic.answer({ message: { content: [], stop_reason: 'pause_turn' } });
  t.match(toFailure(await ask()), { errorCode: 'PROVIDER_ERROR', usage: { inputTokens: 1000 } });
  t.equal(anthropic.requests.length, 1, 'nothing cannot be sent back');
});

t.test('A pause in a call without tools is an end', async (t) => {
  const { anthropic, ask } = await startClaude(t);
  anthropic.answer({ message: { content: LAST, stop_reason: 'pause_turn' } });
  t.match(await ask({ tools: [] }), { ok: true, text: 'The largest is Titan' });
  t.equal(anthropic.requests.length, 1);
});

t.test('A paused answer that then fails, is aborted or takes too long is booked as far as it came', async (t) => {
  const { anthropic, ask } = await startClaude(t);
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  const booked = { inputTokens: 9000, toolUses: 2, costUsd: 0.0385, estimated: false };
  for (const onText of [undefined, () => {}]) {
    anthropic.answer(paused, { status: 529, body: overloaded });
    t.match(toFailure(await ask({ onText })), { errorCode: 'PROVIDER_UNAVAILABLE', retryable: true, usage: booked });
  }

  const then = 'stall' as const;
  const stalls = { message: { content: LAST.slice(0, 1) }, then };
  for (const onText of [undefined, () => {}]) {
    anthropic.requests.length = 0;
    anthropic.answer(paused, stalls);
    const abort = new AbortController();
    const asked = ask({ onText, signal: abort.signal });
    await untilRequests(anthropic, 2);
    abort.abort();
    const aborted = toFailure(await asked);
    t.match(aborted, { errorCode: 'INTERRUPTED', usage: { toolUses: 2, toolCostUsd: 0.01, estimated: true } });
    t.ok(Number(aborted.usage?.inputTokens) > 29_000, 'and the input that was sent last, with both results');

    anthropic.answer(paused, stalls);
    const startedAt = performance.now();
    const late = toFailure(await ask({ onText, timeoutMs: 500 }));
    t.match(late, { errorCode: 'TIMEOUT', usage: { toolUses: 2, estimated: true } });
    t.ok(performance.now() - startedAt < 3000, 'the parts share the time');
  }
});
