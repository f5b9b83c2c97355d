import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { type Budget, checkBudget, selectBudget } from '../../executions/budget/budget.ts';
import { loadHighestCost } from '../../executions/budget/costs.ts';

/** The newest ones; the plan limits how many tasks are active. */
const MAX_BUDGETS = 200;

interface OverBudget {
  taskId: number;
  taskName: string;
  budgetUsd: number;
  /** It is used up, or the rest of it does not cover a run, or a run costs more than the budget of a month. */
  cause: 'used' | 'rest_too_small' | 'budget_too_small';
}

export interface BudgetedTask {
  taskId: number;
  taskName: string;
  budget: Budget;
}

/** The active tasks of a user with a budget, as JSON. */
export const selectBudgetedTasks = (userId: SQL): SQL<BudgetedTask[]> => sql`
  (select coalesce(json_agg(b), '[]') from (
    select t.id as "taskId", t.name as "taskName", ${selectBudget} as budget
    from tasks t where t.user_id = ${userId} and t.status = 'active' and t.monthly_budget_usd is not null
    order by t.id desc limit ${MAX_BUDGETS}) b)`;

/** Those whose next run would be refused in this month, by the rule that refuses it. */
export async function listOverBudget(ctx: Context, budgeted: readonly BudgetedTask[]): Promise<OverBudget[]> {
  const now = ctx.now();
  const highestCost = await loadHighestCost(
    ctx,
    budgeted.map(({ budget }) => budget),
  );
  return budgeted.flatMap(({ taskId, taskName, budget }): OverBudget[] => {
    const exceeded = checkBudget(budget, highestCost, now);
    if (exceeded === null) return [];
    const isTooSmall = checkBudget({ ...budget, month: null }, highestCost, now) !== null;
    const cause = isTooSmall ? 'budget_too_small' : (exceeded.used ?? 0) >= budget.limitUsd ? 'used' : 'rest_too_small';
    return [{ taskId, taskName, budgetUsd: budget.limitUsd, cause }];
  });
}
