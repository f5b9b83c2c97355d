import { type SQL, sql } from 'drizzle-orm';
import { isFailingSql, isStoppedSql, selectLastFailure } from '../../notifications/alerts/acknowledge.ts';

const MAX_FAILING = 20;
/** The worst of them are searched among the newest failing tasks, this many. */
const NEWEST_FAILING = 500;

/** Tasks whose runs fail, stopped ones first. */
export const selectTaskFailures = (userId: SQL): SQL => sql`
  (select coalesce(json_agg(f), '[]') from (
    select t.id as "taskId", t.name as "taskName", ${isStoppedSql(sql`t`)} as "isStopped",
      t.consecutive_failures as failures, e.id as "executionId", e.completed_at as at, e.error, e.error_code as "errorCode"
    from (
      select * from tasks where user_id = ${userId} and consecutive_failures > 0 order by id desc limit ${NEWEST_FAILING}
    ) t left join lateral (${selectLastFailure(sql`t.id`)}) e on true
    where ${isFailingSql}
    order by ${isStoppedSql(sql`t`)} desc, t.id desc limit ${MAX_FAILING}) f)`;
