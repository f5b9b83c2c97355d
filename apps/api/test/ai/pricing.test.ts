import { calcPrice, findProvider } from '@pydantic/genai-prices';
import t from 'tap';
import { calculatePriceUsd } from '../../src/lib/ai/pricing.ts';

const PROVIDERS = ['openai', 'anthropic', 'google', 'openrouter', 'deepseek', 'groq', 'mistral', 'x-ai', 'perplexity'];
const CALLS: { inputTokens: number; outputTokens: number; cacheReadTokens?: number; cacheWriteTokens?: number }[] = [
  { inputTokens: 0, outputTokens: 0 },
  { inputTokens: 1000, outputTokens: 100 },
  { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 400 },
  { inputTokens: 1000, outputTokens: 100, cacheReadTokens: 400, cacheWriteTokens: 600 },
  { inputTokens: 32_000, outputTokens: 7 },
  { inputTokens: 200_001, outputTokens: 3, cacheWriteTokens: 100_000 },
  { inputTokens: 1_000_000, outputTokens: 60_000, cacheReadTokens: 1 },
];

t.test('Every listed model costs what the list says, in tiers and with a cache too', (t) => {
  let compared = 0;
  for (const providerId of PROVIDERS) {
    for (const { id } of findProvider({ providerId })?.models ?? []) {
      for (const call of CALLS) {
        const usage = {
          input_tokens: call.inputTokens,
          output_tokens: call.outputTokens,
          cache_read_tokens: call.cacheReadTokens,
          cache_write_tokens: call.cacheWriteTokens,
        };
        const listed = calcPrice(usage, id, { providerId })?.total_price ?? 0;
        const price = calculatePriceUsd({ model: `${providerId}/${id}`, ...call });
        compared += 1;
        if (Math.abs(price - listed) > 1e-12) t.equal(price, listed, `${providerId} ${id} ${JSON.stringify(call)}`);
      }
    }
  }
  t.ok(compared > 2000, `${compared} prices`);
  t.end();
});

t.test('Impossible counts cost nothing and do not affect later calls', (t) => {
  const model = 'gpt-4o';
  for (const odd of [{ inputTokens: 1, cacheReadTokens: 2 }, { inputTokens: Number.NaN }, { inputTokens: -1 }]) {
    t.equal(calculatePriceUsd({ model, outputTokens: 100, ...odd }), 0, JSON.stringify(odd));
  }
  t.equal(calculatePriceUsd({ model, inputTokens: 1000, outputTokens: 100 }), 0.0035);
  t.end();
});
