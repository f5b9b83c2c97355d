import { rows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';

/**
 * What must never be, whatever happened: a usage counter that is not the sum of the ledger and of the executions still
 * alive, a run that overlaps another of its task, a scheduled run without its ledger row, an ended one that still holds
 * something. Each fault as a row; none when all is well.
 */
export async function findFaults(ctx: Context): Promise<object[]> {
  const found = await Promise.all([findUsageFaults(ctx), findRunFaults(ctx)]);
  return found.flat();
}

/** Usage counters against `usage_records` and the executions that are pending or running. */
function findUsageFaults(ctx: Context): Promise<object[]> {
  return rows(
    ctx.db,
    sql`
    with used as (
      select user_id, day, executions, input_tokens + output_tokens as tokens, 0 as reserved from usage_records
      union all
      select user_id, usage_day, 1, 0, tokens_reserved from executions
      where status in ('pending', 'running') and usage_day is not null
    ), expected as (
      select user_id, p.period, sum(executions) as executions, sum(tokens) as tokens, sum(reserved) as reserved
      from used cross join lateral (values (day::text), (left(day::text, 7))) p(period) group by 1, 2
    )
    select user_id, period, c.executions, c.tokens, c.tokens_reserved, e.executions as expected_executions,
      e.tokens as expected_tokens, e.reserved as expected_reserved
    from usage_counters c full join expected e using (user_id, period)
    where coalesce(c.executions, 0) <> coalesce(e.executions, 0) or coalesce(c.tokens, 0) <> coalesce(e.tokens, 0)
      or coalesce(c.tokens_reserved, 0) <> coalesce(e.reserved, 0)`,
  );
}

function findRunFaults(ctx: Context): Promise<object[]> {
  return rows(
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
