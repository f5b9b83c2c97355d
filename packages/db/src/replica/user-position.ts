import { type SQL, sql } from 'drizzle-orm';
import type { Db } from '../client.ts';
import { queryRows } from '../queries/query-rows.ts';

/**
 * How many changes of a user are committed: events and others. A standby whose count is as large has all that the primary
 * had committed for the user when that counted.
 */
export const selectUserPosition = (userId: SQL) => sql<number>`coalesce((
  select p.last_id + p.changes from event_positions p where p.user_id = ${userId}), 0)::float8`;

export interface UserPosition {
  userId: number;
  position: number;
}

/**
 * Counts a change of each user that is no event, and returns their positions. The last statement of its transaction, because
 * it locks a row of each user, in a fixed order. A user whom the transaction deletes is left out.
 */
export const countChanges = (tx: Db, userIds: readonly number[]): Promise<UserPosition[]> =>
  queryRows<UserPosition>(
    tx,
    sql`
    insert into event_positions as p (user_id, last_id, changes)
    select id, 0, 1 from users where id = any(${`{${userIds.join(',')}}`}::int[]) order by id
    on conflict (user_id) do update set changes = p.changes + 1
    returning p.user_id, (p.last_id + p.changes)::float8 as position`,
  );
