import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { afterKey, BATCH_SIZE, type BatchRow, type PruneBatch, toBatchOfKeys } from './batch.ts';

const USERS_PER_BATCH = 1000;

/** From the oldest of each user on: ids and times of a user grow together, so no index on time is needed. */
export const pruneEvents =
  (before: Date): PruneBatch =>
  async ({ db }, after) => {
    const at = before.toISOString();
    const [row] = await queryRows<BatchRow>(
      db,
      sql`
      with batch as (
        select user_id from event_positions ${afterKey(sql.identifier('user_id'), after)}
        order by user_id limit ${USERS_PER_BATCH}
      ), expired as (
        select batch.user_id from batch cross join lateral (
          select created_at from events e where e.user_id = batch.user_id order by id limit 1
        ) oldest
        where oldest.created_at < ${at}
      ), deleted as (
        delete from events where ctid = any(array(
          select old.ctid from expired cross join lateral (
            select ctid, created_at from events e where e.user_id = expired.user_id
            order by id limit ${BATCH_SIZE} for update skip locked
          ) old
          where old.created_at < ${at} limit ${BATCH_SIZE}))
        returning 1
      )
      select (select count(*) from deleted)::int as deleted,
        case when (select count(*) from batch) = ${USERS_PER_BATCH}
          then (select user_id::text from batch order by user_id desc limit 1) end as next`,
    );
    return toBatchOfKeys(row as BatchRow, after);
  };
