import { calcPrice, type ModelInfo, type PriceCalculation, type Provider, type Usage } from '@pydantic/genai-prices';
import { LRUCache } from 'lru-cache';

/** Zero: the provider has not sent the count. */
export interface TokenCounts {
  inputTokens: number;
  outputTokens: number;
  /** Input tokens that the provider read from its cache or wrote there; included in `inputTokens`. */
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

interface PricedCall extends Partial<TokenCounts> {
  model: string;
  inputTokens: number;
  outputTokens: number;
  apiUrl?: string;
}

/** A model of the list, with a provider that has this model only. */
interface Listing {
  id: string;
  provider: Provider;
  /** In US dollars per token; null if the price depends on the time or on the number of tokens. */
  rates: { input: number; output: number } | null;
}

const MAX_CACHED = 1000;
const cache = new LRUCache<string, { listing: Listing | null }>({ max: MAX_CACHED });

/** In US dollars, by the bundled price list; 0 for a model that is not in it. Never throws, never uses the network. */
export function calculatePriceUsd(call: PricedCall): number {
  const { inputTokens, outputTokens, cacheReadTokens = 0, cacheWriteTokens = 0 } = call;
  const freshTokens = inputTokens - cacheReadTokens - cacheWriteTokens;
  if (![freshTokens, outputTokens, cacheReadTokens, cacheWriteTokens].every((count) => count >= 0)) return 0;
  const key = `${call.apiUrl ?? ''} ${call.model}`;
  let found = cache.get(key);
  if (!found) {
    found = { listing: findListing(call) };
    cache.set(key, found);
  }
  if (!found.listing) return 0;
  const { id, provider, rates } = found.listing;
  // The library checks the whole entry at each call, which takes 8 % of the time of an execution.
  if (rates && cacheReadTokens + cacheWriteTokens === 0) {
    return toDollars(inputTokens * rates.input + outputTokens * rates.output);
  }
  const usage = {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    ...(cacheReadTokens > 0 && { cache_read_tokens: cacheReadTokens }),
    ...(cacheWriteTokens > 0 && { cache_write_tokens: cacheWriteTokens }),
  };
  return toDollars(calculate(id, { provider }, usage)?.total_price ?? 0);
}

/** Sums of floating-point numbers have errors far behind the smallest price. */
export const toDollars = (usd: number) => (usd >= 0 && Number.isFinite(usd) ? Number(usd.toFixed(12)) : 0);

function findListing({ model, apiUrl }: PricedCall): Listing | null {
  const [maker = '', ...rest] = model.split('/');
  const name = rest.join('/');
  const found =
    (apiUrl && calculate(model, { providerApiUrl: apiUrl })) ||
    (name && calculate(name, { providerId: maker })) ||
    calculate(model) ||
    // Names such as `meta-llama/llama-3.3-70b-instruct` are OpenRouter's.
    (name && calculate(model, { providerId: 'openrouter' }));
  if (!found) return null;
  const entry: ModelInfo = { ...found.model, match: { equals: found.model.id } };
  return { id: entry.id, provider: { ...found.provider, models: [entry] }, rates: findRates(found) };
}

function findRates({ model, model_price }: PriceCalculation): Listing['rates'] {
  const { input_mtok: input = 0, output_mtok: output = 0, requests_kcount } = model_price;
  if (Array.isArray(model.prices) || requests_kcount !== undefined) return null;
  return typeof input === 'number' && typeof output === 'number'
    ? { input: input / 1_000_000, output: output / 1_000_000 }
    : null;
}

function calculate(
  model: string,
  options?: Parameters<typeof calcPrice>[2],
  usage: Usage = {},
): PriceCalculation | null {
  try {
    return calcPrice(usage, model, options);
  } catch {
    // A contradictory price list is no reason to lose an answer.
    return null;
  }
}
