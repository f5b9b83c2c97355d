import { calcPrice } from '@pydantic/genai-prices';

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

type Usage = Parameters<typeof calcPrice>[0];
type LookUp = (usage: Usage) => number | null;

const MAX_KEPT = 1000;
/** The way in which each model was found: most are tried in vain, and the list is long. */
const kept = new Map<string, LookUp>();

/**
 * What a call costs by the bundled price list, in US dollars; 0 for a model that is not in it. Never throws and never
 * asks the network (decisions §7).
 */
export function priceUsd(call: PricedCall): number {
  const usage = {
    input_tokens: call.inputTokens,
    output_tokens: call.outputTokens,
    ...(call.cacheReadTokens ? { cache_read_tokens: call.cacheReadTokens } : {}),
    ...(call.cacheWriteTokens ? { cache_write_tokens: call.cacheWriteTokens } : {}),
  };
  const key = `${call.apiUrl ?? ''} ${call.model}`;
  const known = kept.get(key)?.(usage);
  if (known !== undefined && known !== null) return known;
  for (const lookUp of lookUpsOf(call)) {
    const price = lookUp(usage);
    if (price === null) continue;
    keep(key, lookUp);
    return price;
  }
  keep(key, () => 0);
  return 0;
}

function keep(key: string, lookUp: LookUp) {
  kept.set(key, lookUp);
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value as string);
}

function lookUpsOf({ model, apiUrl }: PricedCall): LookUp[] {
  const [maker = '', ...rest] = model.split('/');
  const name = rest.join('/');
  const by = (name: string, provider?: Parameters<typeof calcPrice>[2]) => (usage: Usage) =>
    find(usage, name, provider);
  return [
    ...(apiUrl ? [by(model, { providerApiUrl: apiUrl })] : []),
    ...(name ? [by(name, { providerId: maker })] : []),
    by(model),
    // Names such as `meta-llama/llama-3.3-70b-instruct` are OpenRouter's.
    ...(name ? [by(model, { providerId: 'openrouter' })] : []),
  ];
}

function find(usage: Usage, model: string, provider?: Parameters<typeof calcPrice>[2]): number | null {
  try {
    const price = calcPrice(usage, model, provider)?.total_price;
    return price !== undefined && Number.isFinite(price) && price >= 0 ? Number(price.toFixed(12)) : null;
  } catch {
    // A price list that contradicts itself is no reason to lose an answer.
    return null;
  }
}
