import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { toUtcDay } from '../../platform/limits/quotas.ts';
import { afterKey, BATCH_SIZE, type BatchRow, type PruneBatch, toBatchOfKeys } from './batch.ts';

/** By user, as in the primary key, so that no index on the day is needed. */
export const pruneRateHits =
  (before: Date): PruneBatch =>
  async ({ db }, after) => {
    const [row] = await queryRows<BatchRow>(
      db,
      sql`
      with batch as (
        select id from users ${afterKey(sql.identifier('id'), after)} order by id limit ${BATCH_SIZE}
      ), deleted as (
        delete from rate_hits where ctid = any(array(
          select old.ctid from batch cross join lateral (
            select ctid from rate_hits h where h.user_id = batch.id and h.day < ${toUtcDay(before)}::date
            limit ${BATCH_SIZE} for update skip locked
          ) old
          limit ${BATCH_SIZE}))
        returning 1
      )
      select (select count(*) from deleted)::int as deleted,
        case when (select count(*) from batch) = ${BATCH_SIZE} then (select max(id)::text from batch) end as next`,
    );
    return toBatchOfKeys(row as BatchRow, after);
  };
