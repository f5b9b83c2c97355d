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
  const [maker = '', ...rest] = call.model.split('/');
  const name = rest.join('/');
  const lookUps = [
    ...(call.apiUrl ? [() => calcPrice(usage, call.model, { providerApiUrl: call.apiUrl as string })] : []),
    ...(name ? [() => calcPrice(usage, name, { providerId: maker })] : []),
    () => calcPrice(usage, call.model),
    // Names such as `meta-llama/llama-3.3-70b-instruct` are OpenRouter's.
    ...(name ? [() => calcPrice(usage, call.model, { providerId: 'openrouter' })] : []),
  ];
  for (const lookUp of lookUps) {
    try {
      const found = lookUp();
      if (found && Number.isFinite(found.total_price) && found.total_price >= 0) {
        return Number(found.total_price.toFixed(12));
      }
    } catch {
      // A price list that contradicts itself is no reason to lose an answer.
    }
  }
  return 0;
}
