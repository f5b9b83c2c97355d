import { type SQL, sql } from 'drizzle-orm';
import { selectLatestRuns } from '../../../platform/queries/runs.ts';

const MAX_FAILING = 20;
/** The worst of them are searched among so many failing tasks. */
const NEWEST_FAILING = 500;
/** The last failure of a task is searched among so many of its runs. */
const LATEST_RUNS = 200;

/** A recurring task that was switched off after failed runs. */
export const isStoppedSql = (t: SQL): SQL => sql`(${t}.status = 'failed' and ${t}.recurrence <> 'once')`;

/** A task whose runs fail: stopped ones first. A refused run of an active task is no failure of the task. */
export const selectTaskFailures = (userId: SQL): SQL => sql`
  (select coalesce(json_agg(f), '[]') from (
    select t.id as "taskId", t.name as "taskName", ${isStoppedSql(sql`t`)} as "isStopped",
      t.consecutive_failures as failures, e.id as "executionId", e.completed_at as at, e.error, e.error_code as "errorCode",
      (select a.id from alerts a where a.task_id = t.id and a.kind = 'task.failing' order by a.at desc limit 1) as "alertId"
    from (
      select * from tasks where user_id = ${userId} and consecutive_failures > 0 order by id desc limit ${NEWEST_FAILING}
    ) t left join lateral (
      select * from (${selectLatestRuns(sql`t.id`, LATEST_RUNS)}) e where status = 'failed' and error_code <> 'CANCELLED' order by id desc limit 1
    ) e on true
    where t.status = 'failed' or e.error_code is distinct from 'QUOTA_EXCEEDED' or e.started_at is not null
    order by ${isStoppedSql(sql`t`)} desc, t.id desc limit ${MAX_FAILING}) f)`;
