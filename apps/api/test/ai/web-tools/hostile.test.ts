import t, { type Test } from 'tap';
import type { AiRequest } from '../../../src/lib/ai/request.ts';
import { startTestAi } from '../../support/ai-client.ts';
import { startClaude } from '../../support/claude.ts';
import {
  buildEvents,
  citedText,
  citeResult,
  searchFor,
  searchResult,
} from '../../support/servers/anthropic-message.ts';

const tools = ['web_search', 'web_fetch'] as const;

async function startAnthropic(t: Test) {
  const warnings: object[] = [];
  const log = { warn: (line: object) => void warnings.push(line) };
  const { anthropic, ask } = await startClaude(t, {}, log);
  return { anthropic, warnings, ask: (request: Partial<AiRequest> = {}) => ask({ maxToolUses: 5, ...request }) };
}

t.test('10,000 citations with long titles and bad addresses leave fifty good ones', async (t) => {
  const { anthropic, ask } = await startAnthropic(t);
  const citations = Array.from({ length: 10_000 }, (_, at) =>
    citeResult(at % 2 ? `javascript:alert(${at})` : `https://example.com/${at}`, `${at} ${'x'.repeat(1000)}`),
  );
  const content = [
    searchFor('x'),
    searchResult([]),
    citedText('Titan', ...citations, citeResult('https://last.example/', '')),
  ];
  for (const onText of [undefined, () => {}]) {
    anthropic.answer({ message: { content } });
    const outcome = await ask({ onText });
    t.equal(outcome.ok && outcome.citations?.length, 50);
    t.ok(outcome.ok && outcome.citations?.every(({ url, title }) => /^https:/.test(url) && title.length === 300));
  }
});

t.test('A title of a megabyte and fields of any type are no reason to fail', async (t) => {
  const { anthropic, ask } = await startAnthropic(t);
  const { server, ask: askOpenRouter } = await startTestAi(t, { webTools: 'openrouter' });
  const nonsense = [null, 7, 'x', [], {}, { type: 7 }, { url: { url: [] }, title: [], document_index: {} }];
  const good = citeResult('https://example.com/', 'x'.repeat(1024 * 1024));
  const blocks = [
    ...nonsense,
    { type: 'server_tool_use', name: { toString: null }, input: 7 },
    { type: 'server_tool_use', name: 'constructor' },
    { type: 'web_search_tool_result', content: 'none' },
    { type: 'web_fetch_tool_result', content: [[[]]] },
    { type: 'web_fetch_tool_result', content: { type: 'web_fetch_result', url: 7, content: 7 } },
    { type: '_tool_result' },
    { type: 'text', text: 'Titan', citations: [...nonsense, { document_index: 0, document_title: null }, good] },
    { type: 'text', text: ' Rhea', citations: 'https://example.com/' },
  ];
  anthropic.answer({ body: { content: blocks, usage: { server_tool_use: nonsense } } });
  const expected = {
    ok: true,
    text: 'Titan Rhea',
    citations: [{ url: 'https://example.com/', title: 'x'.repeat(300) }],
  };
  t.match(await ask(), expected);
  const events = [
    { type: 'message_start', message: { content: nonsense } },
    { type: 'content_block_start', index: { a: 1 }, content_block: null },
    { type: 'content_block_delta', index: 99, delta: { type: 'text_delta', text: '' } },
    ...nonsense.map((citation) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'citations_delta', citation },
    })),
    ...nonsense.map((partial_json) => ({
      type: 'content_block_delta',
      delta: { type: 'input_json_delta', partial_json },
    })),
    ...blocks.map((content_block, index) => ({ type: 'content_block_start', index, content_block })),
    { type: 'content_block_delta', index: 9, delta: { type: 'constructor', text: 'no' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { server_tool_use: 7 } },
  ];
  anthropic.answer({ events });
  t.match(await ask({ onText: () => {} }), expected);
  const annotations = [...nonsense, { type: 'url_citation' }, { type: 'url_citation', url_citation: good }];
  for (const onText of [undefined, () => {}]) {
    server.answer(() => ({
      text: 'Titan Rhea',
      annotations: annotations as object[],
      usage: { server_tool_use_details: nonsense, server_tool_use: 'x' },
    }));
    t.match(await askOpenRouter({ tools, onText }), expected);
  }
});

t.test('Uses that a provider claims count up to four times the limit, and none without tools', async (t) => {
  const { anthropic, warnings, ask } = await startAnthropic(t);
  const answer = (server_tool_use: object) =>
    anthropic.answer({
      message: {
        content: [{ type: 'text', text: 'Titan' }],
        usage: { input_tokens: 1000, output_tokens: 100, server_tool_use },
      },
    });
  for (const claim of [1e9, Number.MAX_SAFE_INTEGER, 1e300]) {
    answer({ web_search_requests: claim, web_fetch_requests: claim });
    const { usage } = await ask();
    t.match(usage, { toolUses: 20, toolCostUsd: 0.2, costUsd: 0.2045, estimated: true });
    t.match(warnings.pop(), { claim: { toolUses: 2 * claim }, usage });
    const plain = await ask({ tools: [] });
    t.same([plain.usage?.toolUses, plain.usage?.costUsd], [undefined, 0.0045]);
  }
  for (const claim of [-1, -1e9, 0.5, Number.NaN, '7', null]) {
    answer({ web_search_requests: claim, web_fetch_requests: claim });
    const { usage } = await ask();
    t.same([usage?.toolUses, usage?.costUsd, usage?.estimated], [undefined, 0.0045, false], String(claim));
  }
  t.same(warnings, []);
});

t.test('Uses that are seen in a broken answer count up to four times the limit', async (t) => {
  const { anthropic, ask } = await startAnthropic(t);
  const content = Array.from({ length: 1000 }, (_, at) => searchFor('x', `srvtoolu_${at}`));
  const then = 'reset' as const;
  anthropic.answer({ events: buildEvents('claude-x', { content }), then });
  t.match(await ask({ onText: () => {} }), { usage: { toolUses: 20, toolCostUsd: 0.2, estimated: true } });
  const plain = await ask({ tools: [], onText: () => {} });
  t.same([plain.ok, plain.usage && 'toolUses' in plain.usage], [false, false]);
});

t.test('Results of tools are believed as input, up to four times what they may add', async (t) => {
  const { anthropic, warnings, ask } = await startAnthropic(t);
  const message = (input_tokens: number) => ({
    message: { content: [{ type: 'text', text: 'Titan' }], usage: { input_tokens, output_tokens: 100 } },
  });
  anthropic.answer(message(600_000));
  t.match(await ask(), { usage: { inputTokens: 600_000, estimated: false } });
  t.same(warnings, []);
  anthropic.answer(message(2 ** 31 - 1));
  const { usage } = await ask();
  t.ok(usage?.estimated && usage.inputTokens > 1_000_000 && usage.inputTokens < 1_600_000, `${usage?.inputTokens}`);
  t.equal(warnings.length, 1);
  anthropic.answer(message(600_000));
  t.match(await ask({ tools: [] }), { usage: { estimated: true } }, 'not without tools');
});

t.test('The cost of tools is believed, and one that they cannot have is not', async (t) => {
  const { server, ask } = await startTestAi(t, { webTools: 'openrouter' });
  for (const [cost, costUsd] of [
    [13, 13],
    [500, 0.00021],
    [-1, 0.00021],
  ] as const) {
    server.answer(() => ({ usage: { promptTokens: 1000, completionTokens: 100, cost } }));
    t.match(await ask({ model: 'gpt-4o-mini', tools: ['web_search'] }), { usage: { costUsd } });
  }
});
