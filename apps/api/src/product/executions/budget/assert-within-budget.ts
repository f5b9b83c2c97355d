import type { Context } from '../../../context.ts';
import { quotaExceededError } from '../../../platform/limits/quotas.ts';
import { type Budget, checkBudget } from './budget.ts';
import { loadHighestCost } from './highest-cost.ts';

/** Throws 402 if runs that are asked for now would be refused at their start. */
export async function assertWithinBudget(ctx: Context, budget: Budget | null, runs = 1): Promise<void> {
  if (budget === null) return;
  const exceeded = checkBudget(budget, await loadHighestCost(ctx, [budget]), ctx.now(), { runs });
  if (exceeded) throw quotaExceededError(exceeded);
}
