import type { Context } from '../../../context.ts';
import { findService } from '../../../lib/ai/providers.ts';

/** The price of a call in US dollars; 0 for a model that is not in the price list. */
export type Price = (call: { model: string; inputTokens: number; outputTokens: number }) => number;

/** Loads the price list on its first use: it takes some 20 ms. */
export async function loadPrices({ config }: Pick<Context, 'config'>): Promise<Price> {
  const { calculatePriceUsd } = await import('../../../lib/ai/pricing.ts');
  return (call) => {
    const service = findService(config.ai, call.model);
    return calculatePriceUsd({ ...call, ...('url' in service && { apiUrl: service.url }) });
  };
}
