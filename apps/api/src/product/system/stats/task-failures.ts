import { type SQL, sql } from 'drizzle-orm';
import { isAcknowledgedSql, isStoppedSql, selectLastFailure } from '../../notifications/alerts/acknowledge.ts';

const MAX_FAILING = 20;
/** The worst of them are searched among the newest failing tasks, this many. */
const NEWEST_FAILING = 500;

/** A task whose runs fail: stopped ones first. A refused run of an active task is no failure of the task. */
export const selectTaskFailures = (userId: SQL): SQL => sql`
  (select coalesce(json_agg(f), '[]') from (
    select t.id as "taskId", t.name as "taskName", ${isStoppedSql(sql`t`)} as "isStopped",
      t.consecutive_failures as failures, e.id as "executionId", e.completed_at as at, e.error, e.error_code as "errorCode"
    from (
      select * from tasks where user_id = ${userId} and consecutive_failures > 0 order by id desc limit ${NEWEST_FAILING}
    ) t left join lateral (${selectLastFailure(sql`t.id`)}) e on true
    where (t.status = 'failed' or e.error_code is distinct from 'QUOTA_EXCEEDED' or e.started_at is not null)
      and not ${isAcknowledgedSql(sql`t`, sql`e.error_code`)}
    order by ${isStoppedSql(sql`t`)} desc, t.id desc limit ${MAX_FAILING}) f)`;
