import { sql } from 'drizzle-orm';
import type { Db } from '../client.ts';
import { queryRows } from '../queries/query-rows.ts';
import { userPositionSql } from './server.ts';

/** As a column of a query. `userId` is SQL, such as the name of a column. */
export const selectUserPosition = (userId: string) => sql<number>`${sql.raw(userPositionSql(userId))}`;

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
