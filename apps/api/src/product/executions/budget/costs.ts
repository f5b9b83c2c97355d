import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { findModel, getApiUrl } from '../../../lib/ai/providers.ts';
import type { WebTool } from '../../../lib/ai/request.ts';
import type { AiUsage } from '../../../lib/ai/usage.ts';
import { getHighestUsage } from '../../../lib/ai/web-tools/tool-limits.ts';
import { quotaExceededError, toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';
import { type CompletedExecution, getLastCall } from '../pipeline/execution-result.ts';
import { countOutcomeInput, OUTCOME_MAX_TOKENS } from '../result/outcome-request.ts';
import { type Budget, checkBudget, type HighestCost } from './budget.ts';

/** Instructions of ours and of the provider, roles, and separators. */
const SPARE_TOKENS = 500;
/** An estimate: no provider publishes what an image or a page costs. */
const TOKENS_PER_FILE = 1000;

/**
 * Returns what a run costs at most by the price list, whose models alone have a price: a token is at least a byte of text,
 * tools may be used as often as the task allows, and with an output schema a second call may repair the first answer. Of
 * several models it is the dearest one.
 * Loads the price list only if a budget asks for it.
 */
export async function loadHighestCost(
  ctx: Pick<Context, 'providers' | 'db'>,
  budgets: readonly (Budget | null)[],
): Promise<HighestCost> {
  if (budgets.every((budget) => budget === null)) return () => 0;
  const priceOf = await loadPrices(ctx);
  return (run) =>
    Math.max(
      ...run.models.map(
        (model) => priceAnswer(priceOf, model, run) + (run.hasOutcomeCall ? priceOutcome(priceOf, model, run) : 0),
      ),
    );
}

function priceAnswer(priceOf: Price, model: string, run: Budget): number {
  const { maxTokens, promptBytes, textBytes, files, schemaBytes, tools, maxToolUses } = run;
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
}

const priceOutcome = (priceOf: Price, model: string, run: Budget) =>
  priceOf({ model, inputTokens: countOutcomeInput(run), outputTokens: OUTCOME_MAX_TOKENS });

/** The price of a call in US dollars; 0 for a model that is not in the price list. */
export type Price = (call: { model: string; inputTokens: number; outputTokens: number }) => number;

/** Loads the price list on its first use: it takes some 20 ms. */
async function loadPrices({ providers, db }: Pick<Context, 'providers' | 'db'>): Promise<Price> {
  const [{ calculatePriceUsd }, all] = await Promise.all([import('../../../lib/ai/pricing.ts'), providers.load(db)]);
  return (call) => {
    const found = findModel(all, call.model);
    if (!found) return calculatePriceUsd(call);
    const priced = { ...call, apiUrl: getApiUrl(found.provider) };
    return calculatePriceUsd(priced) || calculatePriceUsd({ ...priced, model: found.model });
  };
}

/** A call that was broken off: no provider reports its usage, and may bill it. */
export interface LostCall {
  model: string;
  /** Estimated. */
  tokens: number;
}

/**
 * An estimate of the input of a run whose provider did not report it: four characters per token. For statements with
 * the aliases `e` (executions) and `t` (tasks); executions of older versions have no request.
 */
export const promptTokens = sql`ceil(coalesce(length(e.request ->> 'prompt')
  + coalesce(length(e.request ->> 'system'), 0), length(t.prompt)) / 4.0)::int`;

/** The model that an execution asked, for the same aliases. */
export const requestedModel = sql`coalesce(e.request ->> 'model', t.ai_model)`;

/** Adds the usage to lost calls: the input, by the price list. Loads the list only if there is such a call. */
export async function addUsage<T extends LostCall>(
  ctx: Pick<Context, 'providers' | 'db'>,
  calls: readonly T[],
): Promise<(T & { usage: AiUsage })[]> {
  if (calls.length === 0) return [];
  const priceOf = await loadPrices(ctx);
  return calls.map((call) => {
    const input = { model: call.model, inputTokens: call.tokens, outputTokens: 0 };
    return { ...call, usage: { ...input, estimated: true, costUsd: priceOf(input) } };
  });
}

export interface MonthCost {
  /** The UTC month of the start. */
  month: string;
  usd: number;
}

/** What executions cost their tasks in the month of their start; of several months the latest. */
export function sumMonthCosts(
  completed: readonly Pick<CompletedExecution, 'taskId' | 'startedAt' | 'usageDay' | 'result'>[],
): Map<number, MonthCost> {
  const costs = new Map<number, MonthCost>();
  for (const { taskId, startedAt, usageDay, result } of completed) {
    if (startedAt === null || usageDay === null) continue;
    const month = toUtcMonth(usageDay);
    const usd = getLastCall(result).usage?.costUsd ?? 0;
    const before = costs.get(taskId);
    if (!before || before.month < month) costs.set(taskId, { month, usd });
    else if (before.month === month) before.usd += usd;
  }
  return costs;
}

/** The assignments that add a cost to that of a task `t` in its latest month; nothing for a `month` of null. */
export const addMonthCost = (month: SQL, usd: SQL): SQL => sql`cost_month = greatest(t.cost_month, ${month}),
  month_cost_usd = case when ${month} is null or ${month} < t.cost_month then t.month_cost_usd
    when ${month} = t.cost_month then t.month_cost_usd + ${usd} else ${usd} end`;

export const getCostOfMonth = (cost: MonthCost | undefined, now: Date): number =>
  cost?.month === toUtcMonth(toUtcDay(now)) ? cost.usd : 0;

/** Throws 402 if runs that are asked for now would be refused at their start. */
export async function assertWithinBudget(ctx: Context, budget: Budget | null, runs = 1): Promise<void> {
  if (budget === null) return;
  const exceeded = checkBudget(budget, await loadHighestCost(ctx, [budget]), ctx.now(), { runs });
  if (exceeded) throw quotaExceededError(exceeded);
}
