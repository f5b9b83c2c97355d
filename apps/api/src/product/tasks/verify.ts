import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';

interface WrongTaskCount {
  userId: number;
  counted: number;
  expected: number;
}

/** One statement, and so one snapshot. */
export async function findWrongTaskCounts(db: Db): Promise<WrongTaskCount[]> {
  const found = await queryRows<WrongTaskCount>(
    db,
    sql`
    select u.id as user_id, u.task_count as counted, coalesce(t.expected, 0) as expected
    from users u left join (select user_id, count(*)::int as expected from tasks group by user_id) t on t.user_id = u.id
    where u.task_count <> coalesce(t.expected, 0) order by u.id`,
  );
  return [...found];
}
