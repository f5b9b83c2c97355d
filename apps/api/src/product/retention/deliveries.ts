import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { afterKey, BATCH_SIZE, type BatchRow, type PruneBatch, toBatchOfKeys } from './batch.ts';

/** Smaller than other batches, because up to 100 logged deliveries of each webhook are inspected and stay. */
const WEBHOOKS_PER_BATCH = 100;

export const pruneDeliveries =
  (before: Date): PruneBatch =>
  async ({ db }, after) => {
    const at = before.toISOString();
    const [row] = await queryRows<BatchRow>(
      db,
      sql`
      with batch as (
        select id from endpoints ${afterKey(sql.identifier('id'), after)} order by id limit ${WEBHOOKS_PER_BATCH}
      ), deleted as (
        delete from deliveries where ctid = any(array(
          select old.ctid from batch cross join lateral (
            select ctid from deliveries d where webhook_id = batch.id and created_at < ${at} and ended_at < ${at}
              and not exists (select from delivery_attempts a where a.delivery_id = d.id)
            limit ${BATCH_SIZE} for update skip locked
          ) old
          limit ${BATCH_SIZE}))
        returning 1
      )
      select (select count(*) from deleted)::int as deleted,
        case when (select count(*) from batch) = ${WEBHOOKS_PER_BATCH}
          then (select id::text from batch order by id desc limit 1) end as next`,
    );
    return toBatchOfKeys(row as BatchRow, after);
  };
