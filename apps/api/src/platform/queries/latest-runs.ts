import { MAX_ID } from '@carillon/contract/primitives';
import { type SQL, sql } from 'drizzle-orm';

const number = (value: number) => sql.raw(String(value));

/**
 * The latest runs of a task, newest first. The comparison of pairs makes the planner follow the index: by `task_id` alone it
 * may read and sort all runs, because it expects each task to have the average number of them.
 */
export const selectLatestRuns = (taskId: SQL, limit: number, offset = 0): SQL => sql`
  select * from (
    select * from executions where (task_id, id) <= (${taskId}, ${number(MAX_ID)})
    order by task_id desc, id desc limit ${number(limit)} offset ${number(offset)}
  ) latest where task_id = ${taskId}`;
