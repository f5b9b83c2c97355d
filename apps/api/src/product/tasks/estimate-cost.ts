import { DAY_MS } from '@carillon/contract/primitives';
import { isUuid } from '@carillon/contract/validation/formats';
import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';
import { DEFAULT_MAX_USES } from '../../lib/ai/web-tools/tool-limits.ts';
import { selectLatestRuns } from '../../platform/queries/runs.ts';
import type { Budget } from '../executions/budget/budget.ts';
import { loadHighestCost } from '../executions/budget/costs.ts';
import { countRuns } from '../schedule/count-runs.ts';
import { type PlanInput, toPlan } from './schedule.ts';

const DAYS = 30;
const RUNS = 30;
/** Fewer runs say little. */
const MIN_RUNS = 3;

interface CostInput extends PlanInput {
  id?: number;
  prompt: string;
  aiModel: string;
  fallbackModels?: readonly string[];
  maxTokens: number;
  outputSchema?: object | null;
  tools?: Budget['tools'];
  maxToolUses?: number;
  attachments?: readonly string[];
  notify?: string;
}

export interface CostEstimate {
  /** The planned runs of the next 30 days. */
  runs: number;
  /** Null for a model without a price. */
  perRunUsd: number | null;
  /** The average of the latest runs with this model, or the most that a run may cost. */
  basis: 'runs' | 'highest';
}

/** What the runs of a task would cost; null without a provider. Throws 400 if its pattern is invalid. */
export async function estimateCost(ctx: Context, caller: Caller, input: CostInput): Promise<CostEstimate | null> {
  const now = ctx.now().getTime();
  const { list } = await ctx.providers.load();
  if (list.length === 0) return null;
  const [runs = 0] = countRuns(toPlan(input), [now, now + DAYS * DAY_MS]);
  const known = await readKnown(ctx, caller, input);
  if (known.usd !== null) return { runs, perRunUsd: known.usd, basis: 'runs' };
  const budget = toBudget(input, known);
  const usd = (await loadHighestCost(ctx, [budget]))(budget);
  return { runs, perRunUsd: usd > 0 ? usd : null, basis: 'highest' };
}

interface Known {
  /** The average of the latest runs; null for too few. */
  usd: number | null;
  textBytes: number;
  files: number;
}

async function readKnown(ctx: Context, caller: Caller, { id, aiModel, attachments = [] }: CostInput): Promise<Known> {
  const ids = `{${attachments.filter(isUuid).join(',')}}`;
  const isBinary = sql`(u.type like 'image/%' or u.type like 'application/pdf%')`;
  const [known] = await queryRows<Known>(
    ctx.db,
    sql`select ${selectAverage(caller, id, aiModel)} as usd, coalesce(sum(u.size) filter (where not ${isBinary}), 0)::float8 as "textBytes",
      (count(*) filter (where ${isBinary}))::int as files
    from uploads u where u.user_id = ${caller.id} and u.id = any(${ids}::uuid[])`,
  );
  return known ?? { usd: null, textBytes: 0, files: 0 };
}

const selectAverage = (caller: Caller, id: number | undefined, model: string): SQL =>
  id === undefined
    ? sql`null::float8`
    : sql`(select case when count(*) >= ${MIN_RUNS} then avg(e.cost_usd) end
        from (${selectLatestRuns(sql`${id}`, RUNS)}) e
        where e.user_id = ${caller.id} and e.status = 'completed' and e.model = ${model} and e.cost_usd > 0)`;

const toBudget = (
  { prompt, aiModel, fallbackModels = [], maxTokens, outputSchema, notify, ...input }: CostInput,
  { textBytes, files }: Known,
): Budget => ({
  limitUsd: 0,
  month: null,
  spentUsd: 0,
  models: [aiModel, ...fallbackModels],
  hasOutcomeCall: notify === 'news',
  maxTokens,
  promptBytes: Buffer.byteLength(prompt),
  textBytes,
  files,
  schemaBytes: outputSchema ? Buffer.byteLength(JSON.stringify(outputSchema)) : null,
  tools: input.tools ?? [],
  maxToolUses: input.maxToolUses ?? DEFAULT_MAX_USES,
});
