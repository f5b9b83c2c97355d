import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';

export interface MostRunning {
  total: number;
  ofUser: number;
}

/** How many executions of those created since `since` ran at the same time at most, by the instants that are stored. */
export async function readMostRunning(db: Db, since: Date): Promise<MostRunning> {
  const [row] = await queryRows<MostRunning>(
    db,
    sql`
    with changes as (
      select e.user_id, c.at, c.step from executions e
      cross join lateral (values (e.started_at, 1), (e.completed_at, -1)) c(at, step)
      where e.created_at >= ${since.toISOString()}::timestamptz
    ), counts as (
      -- Of one instant, ends first: a transaction that completes executions starts others in their place.
      select sum(step) over (order by at, step) as total, sum(step) over (partition by user_id order by at, step) as of_user
      from changes
    )
    select max(total)::int as total, max(of_user)::int as of_user from counts`,
  );
  if (!row) throw new Error('The statement returned no row.');
  return row;
}
