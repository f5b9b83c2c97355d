import type { Context } from '../../../context.ts';
import type { WebTool } from '../../../lib/ai/request.ts';
import { getHighestUsage } from '../../../lib/ai/web-tools/tool-limits.ts';
import type { Budget, HighestCost } from './budget.ts';
import { loadPrices } from './load-prices.ts';

/** Instructions of ours and of the provider, roles, and separators. */
const SPARE_TOKENS = 500;
/** An estimate: no provider publishes what an image or a page costs. */
const TOKENS_PER_FILE = 1000;

/**
 * Returns what a run costs at most by the price list, whose models alone have a price: a token is at least a byte of text,
 * tools may be used as often as the task allows, and with an output schema a second call may repair the first answer.
 * Loads the price list only if a budget asks for it.
 */
export async function loadHighestCost(
  ctx: Pick<Context, 'config'>,
  budgets: readonly (Budget | null)[],
): Promise<HighestCost> {
  if (budgets.every((budget) => budget === null)) return () => 0;
  const priceOf = await loadPrices(ctx);
  return ({ model, maxTokens, promptBytes, textBytes, files, schemaBytes, tools, maxToolUses }) => {
    const price = (tokens: number, allowed: readonly WebTool[] = []) => {
      const { inputTokens, outputTokens, toolCostUsd } = getHighestUsage({
        tools: allowed,
        maxToolUses,
        maxTokens,
        inputTokens: tokens,
      });
      return priceOf({ model, inputTokens, outputTokens }) + toolCostUsd;
    };
    const input = SPARE_TOKENS + promptBytes + textBytes + files * TOKENS_PER_FILE;
    if (schemaBytes === null) return price(input, tools);
    return price(input + schemaBytes, tools) + price(input + schemaBytes + SPARE_TOKENS + maxTokens);
  };
}
