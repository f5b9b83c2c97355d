import { queryRows } from '@carillon/db';
import { describeMoment, getTexts, type Reader } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { nextMonth, toUtcDay, toUtcMonth } from '../../../platform/limits/quotas.ts';
import { notifyUsers } from '../../notifications/write.ts';
import { type CompletedExecution, isOverBudget } from '../pipeline/execution-result.ts';
import { checkBudget } from './budget.ts';
import { getCostOfMonth, loadHighestCost, type MonthCost } from './costs.ts';

interface OverBudget {
  taskId: number;
  userId: number;
  owner: Reader;
  name: string;
  limitUsd: number;
}

/** For runs that have ended: notifies owners whose budget one of them has reached, or of which the first was refused. */
export async function notifyBudgets(
  tx: Context,
  completed: readonly CompletedExecution[],
  costs: ReadonlyMap<number, MonthCost>,
): Promise<void> {
  const now = tx.now();
  const limited = completed.filter(({ budget }) => budget !== null);
  if (limited.length === 0) return;
  const highestCost = await loadHighestCost(
    tx,
    limited.map(({ budget }) => budget),
  );
  const reached = limited.flatMap(({ taskId, userId, owner, taskName: name, budget, startedAt }) => {
    const usd = startedAt === null ? 0 : getCostOfMonth(costs.get(taskId), now);
    const isReached =
      checkBudget(budget, highestCost, now) === null &&
      checkBudget(budget, highestCost, now, { addedUsd: usd }) !== null;
    return budget && isReached ? [{ taskId, userId, owner, name, limitUsd: budget.limitUsd }] : [];
  });
  await notifyOverBudget(tx, reached);
  const refused = limited.filter(({ result }) => isOverBudget(result)).map(({ taskId }) => taskId);
  await notifyRefused(tx, refused);
}

/** Notifies owners that no further run of a task is within its budget. */
function notifyOverBudget(tx: Context, tasks: readonly OverBudget[]): Promise<void> {
  const until = nextMonth(tx.now());
  return notifyUsers(
    tx,
    tasks.map(({ taskId, userId, owner, name, limitUsd }) => {
      const { notices, formats } = getTexts(owner.language);
      const message = notices.overBudgetText(formats.money(limitUsd), describeMoment(until, owner));
      return { userId, kind: 'task.over_budget', title: notices.overBudget(name), message, path: `/tasks/${taskId}` };
    }),
  );
}

/**
 * For runs that are refused: notifies owners of tasks that have not run in this month, because their budget does not cover
 * a single run. The end of the run that reaches a budget notifies the others.
 */
export async function notifyRefused(tx: Context, taskIds: readonly number[]): Promise<void> {
  if (taskIds.length === 0) return;
  const month = toUtcMonth(toUtcDay(tx.now()));
  const first = await queryRows<OverBudget>(
    tx.db,
    sql`update tasks set cost_month = ${month}, month_cost_usd = 0
      where id = any(${`{${taskIds.join(',')}}`}::int[]) and cost_month is distinct from ${month}
      returning id as task_id, user_id, name, monthly_budget_usd as limit_usd,
        (select json_build_object('language', u.language, 'timezone', u.timezone) from users u where u.id = user_id) as owner`,
  );
  await notifyOverBudget(tx, first);
}
