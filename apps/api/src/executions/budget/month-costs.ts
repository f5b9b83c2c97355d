import { toUtcDay, toUtcMonth } from '../../limits/quotas.ts';
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

export const getCostOfMonth = (cost: MonthCost | undefined, now: Date): number =>
  cost?.month === toUtcMonth(toUtcDay(now)) ? cost.usd : 0;
