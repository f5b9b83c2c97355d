import type { Context } from '../../../context.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
import { loadPrices } from './load-prices.ts';

/** A call that was broken off: no provider reports its usage, and may bill it. */
export interface LostCall {
  model: string;
  /** Estimated. */
  tokens: number;
}

/** Adds the usage to lost calls: the input, by the price list. Loads the list only if there is such a call. */
export async function addUsage<T extends LostCall>(
  ctx: Pick<Context, 'config'>,
  calls: readonly T[],
): Promise<(T & { usage: AiUsage })[]> {
  if (calls.length === 0) return [];
  const priceOf = await loadPrices(ctx);
  return calls.map((call) => {
    const input = { model: call.model, inputTokens: call.tokens, outputTokens: 0 };
    return { ...call, usage: { ...input, estimated: true, costUsd: priceOf(input) } };
  });
}
