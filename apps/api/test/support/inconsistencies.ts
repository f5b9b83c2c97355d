import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import { findWrongCounters } from '../../src/product/usage/verify.ts';

/** Finds wrong usage counters, overlapping executions of a task, and executions without occurrence or usage record. */
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
    select 'a scheduled run without an occurrence', e.id from executions e
    left join occurrences o on o.task_id = e.task_id and o.planned_for = e.planned_for
    where e.trigger in ('schedule', 'backfill') and (o.fate is null or o.fate not in ('ran', 'late', 'over_quota', 'over_budget', 'cancelled'))
    union all
    select 'an occurrence without its run', o.task_id from occurrences o
    left join executions e on e.task_id = o.task_id and e.planned_for = o.planned_for
      and e.trigger in ('schedule', 'backfill')
    where o.fate in ('ran', 'late', 'over_quota', 'cancelled') and e.id is null
    union all
    select 'a started execution without a usage record', e.id from executions e
    where e.status in ('completed', 'failed') and e.started_at is not null
      and not exists (select from usage_records u where u.execution_id = e.id and u.executions = 1)
    union all
    select 'an execution with two usage records', execution_id from usage_records
    where executions = 1 and execution_id is not null group by execution_id having count(*) > 1`,
  );
}
