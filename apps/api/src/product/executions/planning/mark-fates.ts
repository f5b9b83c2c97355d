import { recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { isPlannedTrigger } from '../../../platform/queries/planned-trigger.ts';
import { type CompletedExecution, isCancelled, isOverBudget } from '../pipeline/execution-result.ts';

/** Corrects the ledger for planned executions that were cancelled, or refused at their start. */
export async function markFates({ db }: Context, completed: readonly CompletedExecution[]): Promise<void> {
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
