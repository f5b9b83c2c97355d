import type { ExecutionRequest } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { WebTool } from '../../../lib/ai/request.ts';
import { nextMonth, type QuotaExceeded, toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';
import { MAX_SENT } from '../request/system-message.ts';

/** The monthly budget of a task, and what decides the price of its next run. */
export interface Budget {
  limitUsd: number;
  /** The UTC month of `spentUsd`, such as `2026-11`; null before the first run. */
  month: string | null;
  spentUsd: number;
  /** Of which one is asked after the other. */
  models: readonly string[];
  /** Whether a second call decides the outcome. */
  hasOutcomeCall: boolean;
  maxTokens: number;
  /** Of everything that is sent; before the start at least that much, so that the start of a planned run is not refused. */
  promptBytes: number;
  /** Of attached texts. */
  textBytes: number;
  /** The number of attached images and PDFs. */
  files: number;
  /** Null without an output schema. */
  schemaBytes: number | null;
  tools: readonly WebTool[];
  maxToolUses: number;
}

const isBinary = sql`(u.type like 'image/%' or u.type like 'application/pdf%')`;

/** In the system message, and at each place in the prompt. */
const resultCount = sql`((t.context ->> 'previousResult')::boolean::int
  + (length(t.prompt) - length(replace(t.prompt, '{{previous_result}}', ''))) / length('{{previous_result}}'))`;

/** The last result wherever it is sent, each in a frame of 300 bytes at most. */
const resultBytes = sql`case when ${resultCount} > 0 then ${resultCount} * (300 + coalesce((
  select octet_length(left(p.result, ${MAX_SENT}::int)) from past_execution(t.last_success_id, t.id) p), 0)) else 0 end`;

/** Of the rest at most: the clock, the frame of a schema, variables, and what is said about tools. */
const contextBytes = sql`case when (t.context ->> 'clock')::boolean then 400 + octet_length(t.name) else 0 end
  + coalesce(500 + octet_length(t.output_schema::text), 0) + case when t.tools <> '{}' then 200 else 0 end
  + case when strpos(t.prompt, '{{') > 0 then 400 else 0 end`;

/** Null for a task without a budget, which costs nothing then. For statements with the alias `t` (tasks). */
export const selectBudget: SQL<Budget | null> = sql`case when t.monthly_budget_usd is not null then (
  select json_build_object('limitUsd', t.monthly_budget_usd, 'month', t.cost_month, 'spentUsd', t.month_cost_usd,
    'models', array_prepend(t.ai_model, t.fallback_models), 'hasOutcomeCall', t.notify = 'news', 'maxTokens', t.max_tokens, 'promptBytes', octet_length(t.prompt) + ${contextBytes} + ${resultBytes},
    'textBytes', coalesce(sum(u.size) filter (where not ${isBinary}), 0), 'files', count(*) filter (where ${isBinary}),
    'schemaBytes', octet_length(t.output_schema::text), 'tools', t.tools, 'maxToolUses', t.max_tool_uses)
  from uploads u where u.id = any(t.attachment_ids)) end`;

/** With what is really sent: variables, context and sources may have made the prompt longer. */
export function addRequest(budget: Budget | null, { system, prompt }: ExecutionRequest): Budget | null {
  return budget && { ...budget, promptBytes: Buffer.byteLength(system ?? '') + Buffer.byteLength(prompt) };
}

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
