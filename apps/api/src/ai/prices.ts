import {
  calcPrice,
  type ModelPrice,
  type PriceCalculation,
  type TieredPrices,
  type Usage,
} from '@pydantic/genai-prices';

export interface PricedCall {
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** Input tokens that the provider had in its cache, or wrote there: parts of `inputTokens`. */
  cacheReadTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
  /** Where the provider is; the same model costs differently elsewhere. */
  apiUrl?: string | null | undefined;
}

type Price = (call: PricedCall) => number;

const MAX_KEPT = 1000;
/** What each model was found to cost: the list is long, and most ways to find one are tried in vain. */
const kept = new Map<string, Price>();

/**
 * What a call costs by the bundled price list, in US dollars; 0 for a model that is not in it. Never throws and never
 * asks the network (decisions §7).
 */
export function priceUsd(call: PricedCall): number {
  const key = `${call.apiUrl ?? ''} ${call.model}`;
  let price = kept.get(key);
  if (price === undefined) {
    price = findPrice(call);
    kept.set(key, price);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value as string);
  }
  const usd = price(call);
  return usd >= 0 && Number.isFinite(usd) ? Number(usd.toFixed(12)) : 0;
}

function findPrice({ model, apiUrl }: PricedCall): Price {
  const [maker = '', ...rest] = model.split('/');
  const name = rest.join('/');
  const found =
    (apiUrl && listed(model, { providerApiUrl: apiUrl })) ||
    (name && listed(name, { providerId: maker })) ||
    listed(model) ||
    // Names such as `meta-llama/llama-3.3-70b-instruct` are OpenRouter's.
    (name && listed(model, { providerId: 'openrouter' }));
  if (!found) return () => 0;
  const { model: entry, model_price, provider } = found;
  if (!Array.isArray(entry.prices)) return (call) => fixedPrice(model_price, call);
  // What depends on the date or the hour is looked up in its own entry alone.
  return (call) =>
    listed(entry.id, { provider: { ...provider, models: [{ ...entry, match: { equals: entry.id } }] } }, usageOf(call))
      ?.total_price ?? 0;
}

function listed(model: string, where?: Parameters<typeof calcPrice>[2], usage: Usage = {}): PriceCalculation | null {
  try {
    return calcPrice(usage, model, where);
  } catch {
    // A price list that contradicts itself is no reason to lose an answer.
    return null;
  }
}

const usageOf = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: PricedCall): Usage => ({
  input_tokens: inputTokens,
  output_tokens: outputTokens,
  ...(cacheReadTokens ? { cache_read_tokens: cacheReadTokens } : {}),
  ...(cacheWriteTokens ? { cache_write_tokens: cacheWriteTokens } : {}),
});

/** As `calcPrice` reckons, which takes longer to check the list than to use it. */
function fixedPrice(prices: ModelPrice, call: PricedCall): number {
  const { inputTokens, outputTokens, cacheReadTokens: read = 0, cacheWriteTokens: write = 0 } = call;
  const fresh = inputTokens - read - write;
  // What cannot be has no price.
  if (!(fresh >= 0 && read >= 0 && write >= 0 && outputTokens >= 0)) return 0;
  const {
    input_mtok,
    cache_read_mtok = input_mtok,
    cache_write_mtok = input_mtok,
    output_mtok,
    requests_kcount,
  } = prices;
  const rate = (price: number | TieredPrices | undefined) => rateOf(price, inputTokens);
  const tokens =
    fresh * rate(input_mtok) +
    read * rate(cache_read_mtok) +
    write * rate(cache_write_mtok) +
    outputTokens * rate(output_mtok);
  return tokens / 1e6 + rate(requests_kcount) / 1e3;
}

/** A tier holds for all tokens of a call whose input is above its start. */
function rateOf(price: number | TieredPrices | undefined, inputTokens: number): number {
  if (typeof price !== 'object') return price ?? 0;
  let rate = price.base;
  let highest = -1;
  for (const tier of price.tiers) {
    if (inputTokens <= tier.start || tier.start < highest) continue;
    highest = tier.start;
    rate = tier.price;
  }
  return rate;
}
