import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import { findWrongCounters } from '../../src/usage/verify.ts';

/**
 * What must never be, whatever happened: a usage counter that is not the sum of the ledger and of the executions still
 * alive, a run that overlaps another of its task, a scheduled run without its ledger row, an ended one that still holds
 * something. Each fault as a row; none when all is well.
 */
export async function findInconsistencies(ctx: Context): Promise<object[]> {
  const found = await Promise.all([findWrongCounters(ctx.db), findRunInconsistencies(ctx)]);
  return found.flat();
}

function findRunInconsistencies(ctx: Context): Promise<object[]> {
  return queryRows(
    ctx.db,
    sql`
    select 'two runs of a task at once' as fault, task_id as id from executions where status = 'running'
    group by task_id having count(*) > 1
    union all
    select 'a scheduled run that the ledger does not know', e.id from executions e
    left join occurrences o on o.task_id = e.task_id and o.planned_for = e.planned_for
    where e.trigger = 'schedule' and (o.fate is null or o.fate not in ('ran', 'late', 'over_quota'))
    union all
    select 'a planned instant that ran without a run', o.task_id from occurrences o
    left join executions e on e.task_id = o.task_id and e.planned_for = o.planned_for and e.trigger = 'schedule'
    where o.fate in ('ran', 'late', 'over_quota') and e.id is null
    union all
    select 'an execution that ran and has no usage record', e.id from executions e
    where e.status in ('completed', 'failed') and e.started_at is not null
      and not exists (select from usage_records u where u.execution_id = e.id and u.executions = 1)
    union all
    select 'an execution that is billed twice', execution_id from usage_records
    where executions = 1 and execution_id is not null group by execution_id having count(*) > 1`,
  );
}
