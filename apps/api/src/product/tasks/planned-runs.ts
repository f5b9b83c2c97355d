import type { Fate } from '@carillon/contract/occurrences';
import { DAY_MS } from '@carillon/contract/primitives';
import { type SQL, sql } from 'drizzle-orm';
import { hasPlannedTrigger, isWatched, selectLatestRuns } from '../../platform/queries/runs.ts';

/**
 * As in the ledger; a planned run whose last attempt failed has `failed`, or `cancelled` if it was stopped, one that has not ended `running`, and one whose
 * watched answer has changed `changed`.
 */
export type RunOutcome = Fate | 'running' | 'failed' | 'changed';

/** The sum of the runs of 30 days; `isPartial` if there are more runs than were added up. */
export interface RecentCost {
  usd: number;
  isPartial: boolean;
}

const PLANNED_RUNS = 30;
/** A chain of retries is followed this far. */
const MAX_RETRIES = 20;

const number = (value: number) => sql.raw(String(value));

const selectLatestOccurrences = (taskId: SQL): SQL => sql`
  select * from (
    select task_id, planned_for, fate from occurrences where (task_id, planned_for) <= (${taskId}, 'infinity')
    order by task_id desc, planned_for desc limit ${number(PLANNED_RUNS)}
  ) latest where task_id = ${taskId}`;

/**
 * The last planned runs of a task: `planned_for`, `fate`, `started_at`, and `execution_id` of the last attempt. A run counts as its last retry: it is `failed` only
 * if that has failed, and `running` until that has ended. An answer that a task watches
 * and that has changed is `changed`, even if it was late.
 */
export const selectPlannedRuns = (taskId: SQL): SQL => sql`
  with latest as materialized (${selectLatestOccurrences(taskId)}),
  runs as materialized (
    select id, planned_for, status, error_code, started_at, changed from executions
    where task_id = ${taskId} and planned_for >= (select min(planned_for) from latest) and ${hasPlannedTrigger('executions')}
  )
  select o.planned_for, e.started_at, coalesce(r.id, e.id) as execution_id,
    case when o.fate not in ('ran', 'late') then o.fate
      else case coalesce(r.status, e.status)
        when 'failed' then case when coalesce(r.error_code, e.error_code) = 'CANCELLED' then 'cancelled' else 'failed' end
        when 'pending' then 'running'
        when 'running' then 'running'
        else case when coalesce(r.changed, e.changed, false)
          then (select case when ${isWatched('w')} then 'changed' else o.fate end from tasks w where w.id = ${taskId})
          else o.fate end
        end
    end as fate
  from latest o left join runs e using (planned_for)
  left join lateral (
    with recursive chain as (
      select e.id, e.status, e.error_code, e.changed, 0 as depth where e.status = 'failed'
      union all
      select n.id, n.status, n.error_code, n.changed, c.depth + 1 from chain c join executions n on n.retry_of_id = c.id and n.id > c.id and n.trigger = 'retry'
      where c.depth < ${number(MAX_RETRIES)}
    )
    select id, status, error_code, changed from chain order by depth desc limit 1
  ) r on true`;

const COST_DAYS = 30;
/** Enough for a daily task; only tasks that run more often are read further. */
const FIRST_RUNS = 31;
/** An hourly task has 720 runs in 30 days. */
const MAX_RUNS = 750;

/** The `RecentCost` of a task, as JSON. Of more than 750 runs the latest are added up. */
export const selectRecentCost = (taskId: SQL, now: Date): SQL => {
  const since = sql`${new Date(now.getTime() - COST_DAYS * DAY_MS).toISOString()}::timestamptz`;
  const sums = sql`sum(cost_usd) filter (where created_at >= ${since}) as usd, min(created_at) as oldest, count(*) as runs`;
  return sql`
  select json_build_object('usd', coalesce(f.usd, 0) + coalesce(m.usd, 0),
    'isPartial', coalesce(m.runs = ${number(MAX_RUNS - FIRST_RUNS)} and m.oldest >= ${since}, false)) as cost
  from (select ${sums} from (${selectLatestRuns(taskId, FIRST_RUNS)}) l) f,
    lateral (
      select ${sums} from (${selectLatestRuns(taskId, MAX_RUNS - FIRST_RUNS, FIRST_RUNS)}) l
      where f.runs = ${number(FIRST_RUNS)} and f.oldest >= ${since}
    ) m`;
};
