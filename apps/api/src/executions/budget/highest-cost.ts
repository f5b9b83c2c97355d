import type { Context } from '../../context.ts';
import type { Budget, HighestCost } from './budget.ts';
import { loadPrices } from './load-prices.ts';

/** Instructions of ours and of the provider, roles, and separators. */
const SPARE_TOKENS = 500;
/** An estimate: no provider publishes what an image or a page costs. */
const TOKENS_PER_FILE = 1000;

/**
 * Returns what a run costs at most by the price list, 0 for a model that is not in it: a token is at least a byte of text,
 * and with an output schema a second call may repair the first answer. Loads the price list only if a budget asks for it.
 */
export async function loadHighestCost(
  ctx: Pick<Context, 'config'>,
  budgets: readonly (Budget | null)[],
): Promise<HighestCost> {
  if (budgets.every((budget) => budget === null)) return () => 0;
  const priceOf = await loadPrices(ctx);
  return ({ model, maxTokens, promptBytes, textBytes, files, schemaBytes }) => {
    const price = (inputTokens: number) => priceOf({ model, inputTokens, outputTokens: maxTokens });
    const input = SPARE_TOKENS + promptBytes + textBytes + files * TOKENS_PER_FILE;
    if (schemaBytes === null) return price(input);
    return price(input + schemaBytes) + price(input + schemaBytes + SPARE_TOKENS + maxTokens);
  };
}
