import { executions } from '@carillon/db';
import { sql } from 'drizzle-orm';

/** How far back an earlier success is searched: a task may have failed for ever. */
const MAX_SEARCHED = 200;

/**
 * The id of the success that an execution was compared with, unless retention has deleted it; else of the success before it,
 * or null. For a statement that joins the table with others.
 */
export const earlierSuccess = sql<number | null>`coalesce(
  (select x.id from executions x where x.id = ${executions.comparedWithId} and x.task_id = ${executions.taskId}),
  (select max(s.id) filter (where s.status = 'completed') from (
    select x.id, x.status from executions x where x.task_id = ${executions.taskId} and x.id < ${executions.id}
    order by x.id desc limit ${MAX_SEARCHED}) s))`;
