import { type SQL, sql } from 'drizzle-orm';
import { toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';
import type { CompletedExecution } from '../pipeline/execution-result.ts';

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
    const usd = result.usage?.costUsd ?? 0;
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
