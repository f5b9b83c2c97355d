import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { isPlannedTrigger } from '../../../platform/queries/runs.ts';
import { type CompletedExecution, isCancelled, isOverBudget } from '../pipeline/execution-result.ts';

const toIds = (ids: readonly number[]) => sql`${`{${ids.join(',')}}`}::int[]`;

const hasLiveRun = sql`exists (select from executions_live e
  where e.user_id = t.user_id and e.task_id = t.id and e.status in ('pending', 'running'))`;

/**
 * Of tasks without a next run, those whose last run has ended. A statement of its own, after the task rows were locked:
 * of two runs that end at once, the later must see the end of the other. Tasks of suspended accounts go on later.
 */
export async function findEndedTasks(tx: Context, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const ended = await queryRows<{ id: number }>(
    tx.db,
    sql`select t.id from tasks t join users u on u.id = t.user_id
      where t.id = any(${toIds(ids)}) and u.is_active and not ${hasLiveRun}`,
  );
  return new Set(ended.map(({ id }) => id));
}

/** Completes the tasks without a next run that have no live run either; the end of that run ends the others. */
export async function completeTasks(tx: Context, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.db.execute(sql`update tasks t set status = 'completed', overdue_at = null, updated_at = ${tx.now().toISOString()} from users u
    where t.id = any(${toIds(ids)}) and u.id = t.user_id and u.is_active
      and t.status = 'active' and t.next_execution_at is null and not ${hasLiveRun}`);
}

/** Corrects the ledger for planned executions that were cancelled, or refused at their start. */
export async function recordFates({ db }: Context, completed: readonly CompletedExecution[]): Promise<void> {
  const fates = completed.flatMap(({ taskId, plannedFor, startedAt, trigger, result }) => {
    if (isCancelled(result)) return plannedFor === null ? [] : [{ taskId, plannedFor, fate: 'cancelled' }];
    if (result.ok || startedAt !== null || !isPlannedTrigger(trigger)) return [];
    return [{ taskId, plannedFor, fate: isOverBudget(result) ? 'over_budget' : 'over_quota' }];
  });
  if (fates.length === 0) return;
  await db.execute(sql`
    update occurrences o set fate = f.fate
    from ${recordset('f', fates, { taskId: 'int', plannedFor: 'timestamptz', fate: 'text' })}
    where o.task_id = f.task_id and o.planned_for = f.planned_for`);
}
