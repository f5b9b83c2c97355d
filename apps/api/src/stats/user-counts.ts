import { users } from '@carillon/db';
import { sql } from 'drizzle-orm';

/** Subqueries for figures of a user, in a query on `users` (specification "User", "Admin"). */

/** Drizzle would leave `users` out of the name in a query of one table, and the name would then be another's. */
const userId = sql.raw('"users"."id"');

/** The plan limits the active ones: few enough to be counted. */
const countActive = sql<number>`(select count(*)::int from tasks t where t.user_id = ${userId} and t.status = 'active')`;

export const taskStats = { totalTasks: users.taskCount, activeTasks: countActive };

/** Booked by the end of each run: there may be too many of them to be counted. */
const countEnded = (how: 'completed' | 'failed') =>
  sql<number>`(select coalesce(sum(${sql.identifier(how)}), 0)::int from usage_counters c
    where c.user_id = ${userId} and length(c.period) = 7)`;

/** What is still to end has an index that holds nothing else. */
const countLive = sql<number>`(select count(*)::int from executions e
  where e.user_id = ${userId} and e.status in ('pending', 'running'))`;

export const executionStats = { completed: countEnded('completed'), failed: countEnded('failed'), live: countLive };

/** All of them. */
export const executionTotal = sql<number>`(${executionStats.completed} + ${executionStats.failed} + ${executionStats.live})`;

/** Completed over completed and failed, in percent with two decimals; 0 when nothing ran (decisions §9). */
export function successRate(completed: number, failed: number): number {
  const ended = completed + failed;
  return ended === 0 ? 0 : Math.round((completed / ended) * 10_000) / 100;
}
