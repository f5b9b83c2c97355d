import { users } from '@carillon/db';
import { sql } from 'drizzle-orm';

// Subqueries for counts of a user, in a query on `users`.

/** Spelled out: in a query of one table Drizzle leaves out the table's name, and the subquery has an `id` of its own. */
const userId = sql.raw('"users"."id"');

/** Counted on demand: the plan limits the active tasks to a few. */
const activeTasks = sql<number>`(select count(*)::int from tasks t where t.user_id = ${userId} and t.status = 'active')`;

export const taskStats = { totalTasks: users.taskCount, activeTasks };

/** From the counters of the months: there may be too many executions to count. */
const sumOverMonths = (counter: 'completed' | 'failed') =>
  sql<number>`(select coalesce(sum(${sql.identifier(counter)}), 0)::int from usage_counters c
    where c.user_id = ${userId} and length(c.period) = 7)`;

/** Pending and running executions, by the partial index that has only these. */
const live = sql<number>`(select count(*)::int from executions_live e
  where e.user_id = ${userId} and e.status in ('pending', 'running'))`;

export const executionStats = { completed: sumOverMonths('completed'), failed: sumOverMonths('failed'), live };

export const executionTotal = sql<number>`(${executionStats.completed} + ${executionStats.failed} + ${executionStats.live})`;

/** Completed over completed and failed, in percent with two decimals; 0 if none has ended. */
export function successRate(completed: number, failed: number): number {
  const ended = completed + failed;
  return ended === 0 ? 0 : Math.round((completed / ended) * 10_000) / 100;
}
