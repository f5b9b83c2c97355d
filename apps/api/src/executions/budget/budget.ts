import { type SQL, sql } from 'drizzle-orm';
import { nextMonth, type QuotaExceeded, toUtcDay, toUtcMonth } from '../../limits/quotas.ts';

/** The monthly budget of a task, and what decides the price of its next run. */
export interface Budget {
  limitUsd: number;
  /** The UTC month of `spentUsd`, such as `2026-11`; null before the first run. */
  month: string | null;
  spentUsd: number;
  model: string;
  maxTokens: number;
  promptBytes: number;
  /** Of attached texts. */
  textBytes: number;
  /** The number of attached images and PDFs. */
  files: number;
  /** Null without an output schema. */
  schemaBytes: number | null;
}

const isBinary = sql`(u.type like 'image/%' or u.type like 'application/pdf%')`;

/** Null for a task without a budget, which costs nothing then. For statements with the alias `t` (tasks). */
export const selectBudget: SQL<Budget | null> = sql`case when t.monthly_budget_usd is not null then (
  select json_build_object('limitUsd', t.monthly_budget_usd, 'month', t.cost_month, 'spentUsd', t.month_cost_usd,
    'model', t.ai_model, 'maxTokens', t.max_tokens, 'promptBytes', octet_length(t.prompt),
    'textBytes', coalesce(sum(u.size) filter (where not ${isBinary}), 0), 'files', count(*) filter (where ${isBinary}),
    'schemaBytes', octet_length(t.output_schema::text))
  from uploads u where u.id = any(t.attachment_ids)) end`;

/** What a run may cost at most, in US dollars. */
export type HighestCost = (budget: Budget) => number;

/**
 * Returns why so many runs that start at `now` are refused: they might exceed the budget, or it is used up. `addedUsd` was
 * spent since the budget was read.
 */
export function checkBudget(
  budget: Budget | null,
  highestCost: HighestCost,
  now: Date,
  { addedUsd = 0, runs = 1 } = {},
): QuotaExceeded | null {
  if (budget === null) return null;
  const { month, spentUsd, limitUsd } = budget;
  const used = toDollars((month === toUtcMonth(toUtcDay(now)) ? spentUsd : 0) + addedUsd);
  if (used < limitUsd && toDollars(used + runs * highestCost(budget)) <= limitUsd) return null;
  return { resource: 'monthlyBudgetUsd', used, limit: limitUsd, resetAt: nextMonth(now).toISOString() };
}

/** Sums of floating-point numbers have errors far behind the smallest price. */
const toDollars = (usd: number) => Number(usd.toFixed(12));
