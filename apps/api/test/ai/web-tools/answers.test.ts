import t, { type Test } from 'tap';
import { fixProviders } from '../../../src/lib/ai/provider-list.ts';
import type { AiRequest } from '../../../src/lib/ai/request.ts';
import { tracedAi } from '../../../src/lib/ai/tracing.ts';
import { type Attributes, NO_TRACE, type Trace } from '../../../src/lib/telemetry/tracing.ts';
import { buildAiRequest, NO_PROVIDER, startTestAi } from '../../support/ai-client.ts';
import { startClaude } from '../../support/claude.ts';
import {
  type AnthropicMessage,
  buildEvents,
  citedText,
  citePage,
  citeResult,
  fetchedPage,
  fetchPage,
  foundPage,
  searchFor,
  searchResult,
} from '../../support/servers/anthropic-message.ts';

const TITAN = 'https://example.com/titan';
const RHEA = 'https://example.org/rhea';
const usage = (server_tool_use: object) => ({ input_tokens: 9000, output_tokens: 100, server_tool_use });

async function startAnthropic(t: Test) {
  const { anthropic, ask } = await startClaude(t);
  /** The outcome of both shapes, which have to be equal, and the text of the stream. */
  const askTwice = async (message: AnthropicMessage, request: Partial<AiRequest> = {}) => {
    anthropic.answer({ message });
    const { durationMs: _, ...whole } = await ask(request);
    let streamed = '';
    const onText = (piece: string) => {
      streamed += piece;
    };
    const { durationMs: __, ...outcome } = await ask({ ...request, onText });
    t.same(outcome, whole, 'in one piece and streamed');
    return { outcome, streamed };
  };
  return { anthropic, ask, askTwice };
}

t.test('An answer of Claude with searches has its citations, the uses and their cost', async (t) => {
  const { askTwice } = await startAnthropic(t);
  const { outcome, streamed } = await askTwice({
    content: [
      { type: 'thinking', thinking: 'I do not know it by heart.', signature: 'EqQB' },
      { type: 'text', text: "I'll look that up." },
      searchFor('largest moon of Saturn'),
      searchResult([foundPage(TITAN, 'Titan'), foundPage(RHEA, 'Rhea')]),
      { type: 'text', text: 'The largest moon is ' },
      citedText('Titan', citeResult(TITAN, 'Titan — a moon')),
      { type: 'text', text: ', then comes ' },
      citedText('Rhea', citeResult(RHEA, 'Rhea'), citeResult(TITAN, 'Titan, again')),
      { type: 'text', text: '.' },
    ],
    usage: usage({ web_search_requests: 1, web_fetch_requests: 0 }),
  });
  t.same(outcome, {
    ok: true,
    text: 'The largest moon is Titan, then comes Rhea.',
    citations: [
      { url: TITAN, title: 'Titan — a moon' },
      { url: RHEA, title: 'Rhea' },
    ],
    usage: {
      model: 'claude-sonnet-4-5-20250929',
      provider: 'anthropic',
      inputTokens: 9000,
      outputTokens: 100,
      estimated: false,
      costUsd: 0.0385,
      toolUses: 1,
      searches: 1,
      toolCostUsd: 0.01,
    },
  });
  t.equal(streamed, "I'll look that up.\n\nThe largest moon is Titan, then comes Rhea.");
});

t.test('A fetched page is cited by its address, whatever documents are attached', async (t) => {
  const { askTwice } = await startAnthropic(t);
  const data = Buffer.from('pdf');
  const attachments = [
    { name: 'a.pdf', mediaType: 'application/pdf', data },
    { name: 'a.png', mediaType: 'image/png', data },
  ];
  const { outcome } = await askTwice(
    {
      content: [
        fetchPage(TITAN),
        fetchedPage(TITAN, 'A shop'),
        fetchPage(RHEA, 'srvtoolu_3'),
        fetchedPage(RHEA, 'A shop', 'srvtoolu_3'),
        fetchPage('https://example.net/', 'srvtoolu_4'),
        fetchedPage('https://example.net/', null, 'srvtoolu_4'),
        citedText(
          'Three prices.',
          citePage(2, 'A shop'),
          citePage(7, null),
          citePage(1, 'a.pdf'),
          citePage(9, 'A shop'),
        ),
      ],
      usage: usage({ web_search_requests: 0, web_fetch_requests: 3 }),
    },
    { attachments },
  );
  t.match(outcome, { text: 'Three prices.', usage: { toolUses: 3, costUsd: 0.0285 } });
  t.same(outcome.ok && outcome.citations, [
    { url: RHEA, title: 'A shop' },
    { url: 'https://example.net/', title: 'example.net' },
  ]);
  t.notOk(outcome.usage && 'toolCostUsd' in outcome.usage, 'fetches are free');
});

t.test('Errors of tools leave the answer as it is, and are not paid for', async (t) => {
  const { askTwice } = await startAnthropic(t);
  const { outcome } = await askTwice({
    content: [
      searchFor('x'),
      searchResult({ type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }),
      fetchPage(TITAN),
      {
        type: 'web_fetch_tool_result',
        tool_use_id: 'srvtoolu_2',
        content: { type: 'web_fetch_tool_error', error_code: 'url_not_accessible' },
      },
      { type: 'text', text: 'The page cannot be read.' },
    ],
    usage: usage({ web_search_requests: 0, web_fetch_requests: 0 }),
  });
  t.match(outcome, { ok: true, text: 'The page cannot be read.', usage: { costUsd: 0.0285, estimated: false } });
  t.notMatch(outcome, { usage: { toolUses: Number } });
  t.notMatch(outcome, { citations: Array });
});

t.test(
  'An answer that ends with the use of a tool is its whole text, and unknown blocks are passed over',
  async (t) => {
    const { askTwice } = await startAnthropic(t);
    const { outcome, streamed } = await askTwice({
      content: [
        { type: 'text', text: 'Titan.' },
        { type: 'from_the_future', url: TITAN, content: { deep: [{ text: 'no' }] } },
        citedText(' Rhea.', citeResult(RHEA, 'Rhea')),
        searchFor('more'),
        { type: 'code_execution_tool_result', content: { stdout: 'no' } },
        { type: 'text', text: ' \n' },
      ],
      stop_reason: 'max_tokens',
      usage: usage({ web_search_requests: 1 }),
    });
    t.match(outcome, { ok: true, isCut: true, text: 'Titan. Rhea.\n\n \n', citations: [{ url: RHEA }] });
    t.equal(streamed, 'Titan. Rhea.\n\n \n');
  },
);

t.test('What was cited before the last use of a tool comes after what the answer cites', async (t) => {
  const { askTwice } = await startAnthropic(t);
  const { outcome } = await askTwice({
    content: [
      citedText('First I read this.', citeResult(RHEA, 'Rhea'), citeResult(TITAN, 'Titan')),
      searchFor('x'),
      searchResult([]),
      citedText('{"moon": "Titan"}', citeResult(TITAN, 'Titan')),
    ],
  });
  t.same(outcome.ok && [outcome.text, outcome.citations?.map(({ url }) => url)], ['{"moon": "Titan"}', [TITAN, RHEA]]);
  t.match(
    outcome,
    { usage: { toolUses: 1, toolCostUsd: 0.01, costUsd: 0.0145 } },
    'uses that are not counted are seen',
  );
});

t.test('A broken stream is charged the uses of tools that arrived', async (t) => {
  const { anthropic, ask } = await startAnthropic(t);
  const content = [
    searchFor('x'),
    searchResult([foundPage(TITAN, 'Titan')]),
    fetchPage(TITAN),
    { type: 'text', text: 'no' },
  ];
  const events = buildEvents('claude-x', { content }).slice(0, 12);
  const then = 'reset' as const;
  anthropic.answer({ events, then });
  const { usage } = await ask({ onText: () => {} });
  t.match(usage, { toolUses: 2, toolCostUsd: 0.01, outputTokens: 0, estimated: true });
  t.ok(usage && usage.inputTokens > 20_000 && usage.costUsd > 0.06, 'with their results as input');
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  anthropic.answer({ events: [...events, error] });
  t.same((await ask({ onText: () => {} })).usage, { ...usage, estimated: true }, 'also if the provider says why');
});

const annotation = (url: string, title: string) => ({
  type: 'url_citation',
  url_citation: { url, title, content: 'Titan is …', start_index: 0, end_index: 5 },
});

t.test('An answer through OpenRouter has its citations, its uses and one cost', async (t) => {
  const { server, ask } = await startTestAi(t, { webTools: 'openrouter' });
  const tools = ['web_search', 'web_fetch'] as const;
  for (const name of ['server_tool_use_details', 'server_tool_use']) {
    for (const onText of [undefined, () => {}]) {
      server.answer(() => ({
        text: 'Titan',
        annotations: [
          annotation(TITAN, 'Titan'),
          { type: 'file', url_citation: { url: 'https://file.example/' } },
          annotation(RHEA, 'Rhea'),
          annotation(TITAN, ''),
        ],
        usage: {
          promptTokens: 9000,
          completionTokens: 100,
          cost: 0.05,
          [name]: { web_search_requests: 2, tool_calls_requested: 4, tool_calls_executed: 3 },
        },
      }));
      const { durationMs: _, ...outcome } = await ask({ tools, onText });
      t.same(outcome, {
        ok: true,
        text: 'Titan',
        citations: [
          { url: TITAN, title: 'Titan' },
          { url: RHEA, title: 'Rhea' },
        ],
        usage: {
          model: 'test-model',
          provider: 'default',
          inputTokens: 9000,
          outputTokens: 100,
          estimated: false,
          costUsd: 0.05,
          toolUses: 3,
          searches: 2,
        },
      });
    }
  }
});

t.test('Searches of a service that sends no cost are priced, and are not counted twice', async (t) => {
  const { server, ask } = await startTestAi(t, { webTools: 'openrouter' });
  for (const [counts, toolUses, toolCostUsd] of [
    [{ web_search_requests: 2 }, 2, 0.014],
    [{ web_search_requests: 2, tool_calls_requested: 3 }, 3, 0.014],
    [{ web_search_requests: 2, tool_calls_executed: 2, tool_calls_requested: 9 }, 2, 0.014],
    [{ tool_calls_executed: 2 }, 2, undefined],
    [{}, undefined, undefined],
  ] as const) {
    server.answer(() => ({ usage: { promptTokens: 1000, completionTokens: 100, server_tool_use_details: counts } }));
    const { usage } = await ask({ model: 'gpt-4o-mini', tools: ['web_search'] });
    t.same([usage?.toolUses, usage?.toolCostUsd], [toolUses, toolCostUsd], JSON.stringify(counts));
    t.equal(usage?.costUsd, Number((0.00021 + (toolCostUsd ?? 0)).toFixed(12)));
  }
});

t.test('The span of a call has the uses of its tools', async (t) => {
  const { server, ai } = await startTestAi(t, { webTools: 'openrouter' });
  const spans: Attributes[] = [];
  const span = { set: (attributes: Attributes) => void spans.push(attributes), fail() {} };
  const trace: Trace = { ...NO_TRACE, isOn: true, span: (_name, _attributes, work) => work(span) };
  server.answer(() => ({ usage: { server_tool_use_details: { tool_calls_executed: 3 } } }));
  await tracedAi(ai, trace, fixProviders(NO_PROVIDER)).ask(buildAiRequest({ tools: ['web_fetch'] }));
  t.match(spans, [{ 'carillon.usage.tool_uses': 3 }]);
});
