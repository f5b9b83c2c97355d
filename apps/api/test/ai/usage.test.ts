import t from 'tap';
import { calculatePriceUsd } from '../../src/lib/ai/pricing.ts';
import { startTestAi, toFailure } from '../support/ai-client.ts';

const usage = { promptTokens: 1000, completionTokens: 100 };
/** gpt-4o-mini, 1000 tokens in and 100 out, at 0.15 and 0.60 dollars per million. */
const LISTED = 0.00021;

t.test("The provider's own cost comes before the price list, and zero is a cost too", async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const cost of [0.0123, 0]) {
    server.answer(() => ({ usage: { ...usage, cost } }));
    t.match(await ask({ model: 'gpt-4o-mini' }), { usage: { costUsd: cost } });
  }
  server.answer(() => ({ usage, headers: { 'x-litellm-response-cost': '0.0042' } }));
  t.match(await ask({ model: 'gpt-4o-mini' }), { usage: { costUsd: 0.0042 } }, 'LiteLLM sends it in a header');
});

t.test('A cost that is not a plausible number is ignored', async (t) => {
  const { server, ask } = await startTestAi(t);
  for (const cost of [-1, 1e300, '', 'free', null, [], true]) {
    const choices = [{ message: { content: 'Titan' }, finish_reason: 'stop' }];
    server.answer(() => ({ body: { choices, usage: { prompt_tokens: 1000, completion_tokens: 100, cost } } }));
    t.match(await ask({ model: 'gpt-4o-mini' }), { ok: true, usage: { costUsd: LISTED } }, JSON.stringify(cost));
  }
});

t.test(
  "Without a provider's cost the price list decides, by the model that answered, else by the one that was asked",
  async (t) => {
    const { server, ask } = await startTestAi(t);
    for (const [asked, answered, costUsd] of [
      ['gpt-4o-mini', 'gpt-4o-mini', LISTED],
      ['openai/gpt-4o-mini', 'openai/gpt-4o-mini', LISTED],
      ['auto', 'gpt-4o-mini-2024-07-18', LISTED],
      ['gpt-4o-mini', 'deployment-7', LISTED],
      ['unknown-model', 'unknown-model', 0],
      ['llama3.1:8b', 'llama3.1:8b', 0],
    ] as const) {
      server.answer(() => ({ usage, model: answered }));
      t.match(await ask({ model: asked }), { usage: { model: answered, costUsd } }, `${asked} → ${answered}`);
    }
  },
);

t.test('Tokens that the provider does not count are estimated and marked, one by one', async (t) => {
  const { server, ask } = await startTestAi(t);
  const text = 'Titan is the largest moon of Saturn.';
  const answering = (sentUsage: object | null) => ({
    body: {
      choices: [{ message: { content: text }, finish_reason: 'stop' }],
      ...(sentUsage ? { usage: sentUsage } : {}),
    },
  });
  for (const [sentUsage, expected] of [
    [null, { inputTokens: 8, outputTokens: 8, estimated: true }],
    [{}, { inputTokens: 8, outputTokens: 8, estimated: true }],
    [
      { prompt_tokens: 0, completion_tokens: 0 },
      { inputTokens: 8, outputTokens: 8, estimated: true },
    ],
    [{ prompt_tokens: 21 }, { inputTokens: 21, outputTokens: 8, estimated: true }],
    [{ completion_tokens: 34 }, { inputTokens: 8, outputTokens: 34, estimated: true }],
    [
      { prompt_tokens: '21', completion_tokens: -3 },
      { inputTokens: 8, outputTokens: 8, estimated: true },
    ],
    [
      { prompt_tokens: 1.5, completion_tokens: 34 },
      { inputTokens: 8, outputTokens: 34, estimated: true },
    ],
    [
      { prompt_tokens: 21, completion_tokens: 34 },
      { inputTokens: 21, outputTokens: 34, estimated: false },
    ],
  ] as const) {
    server.answer(() => answering(sentUsage));
    const outcome = await ask();
    t.match(outcome.usage, expected, JSON.stringify(sentUsage));
  }
});

t.test('Reasoning that is shown counts in an estimated output', async (t) => {
  const { server, ask } = await startTestAi(t);
  const message = { content: 'Titan', reasoning: 'The moons of Saturn are many. '.repeat(20) };
  server.answer(() => ({ body: { choices: [{ message, finish_reason: 'stop' }] } }));
  const { usage } = await ask();
  t.ok((usage?.outputTokens ?? 0) > 100, `${usage?.outputTokens} tokens`);
});

t.test('A call that was sent and never answered is charged its input by the price list', async (t) => {
  const { server, ask } = await startTestAi(t, { timeoutMs: 400 });
  await ask();
  server.answer(() => ({ hang: 'head' }));
  const { usage } = toFailure(await ask({ model: 'gpt-4o-mini', prompt: 'moon '.repeat(1000) }));
  t.strictSame(usage, {
    model: 'gpt-4o-mini',
    provider: 'default',
    inputTokens: 1000,
    outputTokens: 0,
    estimated: true,
    costUsd: 0.00015,
  });
});

t.test('Prices never throw, never use the network, and are 0 for unknown models', async (t) => {
  const { fetch } = globalThis;
  t.after(async () => {
    globalThis.fetch = fetch;
  });
  globalThis.fetch = () => {
    throw new Error('the network was asked');
  };
  const tokens = { inputTokens: 1000, outputTokens: 100 };
  t.equal(calculatePriceUsd({ model: 'gpt-4o-mini', ...tokens }), LISTED);
  t.equal(
    calculatePriceUsd({ model: 'gpt-4o-mini', ...tokens, cacheReadTokens: 1000 }),
    0.000135,
    'cached input is cheaper',
  );
  t.ok(calculatePriceUsd({ model: 'openai/gpt-4o-mini', ...tokens, apiUrl: 'https://openrouter.ai/api/v1' }) > 0);
  t.ok(calculatePriceUsd({ model: 'claude-sonnet-4-5', ...tokens, apiUrl: 'https://api.anthropic.com/v1' }) > 0);
  for (const model of ['', '/', 'a/b/c', '__proto__', 'constructor', 'x'.repeat(10_000), 'offline', '\u0000']) {
    t.equal(calculatePriceUsd({ model, ...tokens }), 0, JSON.stringify(model.slice(0, 20)));
  }
  for (const odd of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
    t.equal(calculatePriceUsd({ model: 'gpt-4o-mini', inputTokens: odd, outputTokens: odd }), 0, String(odd));
  }
});
