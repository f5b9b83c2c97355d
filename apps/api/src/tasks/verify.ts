import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';

/** A user's number of tasks that is not what it should be. */
export interface WrongTaskCount {
  userId: number;
  counted: number;
  /** How many tasks there are. */
  due: number;
}

/**
 * Counts the tasks of every user anew and returns the numbers, which lists and figures show, that say otherwise: none,
 * whatever has just died. One statement, so it may be asked while the service works.
 */
export async function findWrongTaskCounts(db: Db): Promise<WrongTaskCount[]> {
  const found = await queryRows<WrongTaskCount>(
    db,
    sql`
    select u.id as "userId", u.task_count as counted, coalesce(due.tasks, 0) as due
    from users u left join (select user_id, count(*)::int as tasks from tasks group by user_id) due on due.user_id = u.id
    where u.task_count <> coalesce(due.tasks, 0) order by u.id`,
  );
  return [...found];
}
