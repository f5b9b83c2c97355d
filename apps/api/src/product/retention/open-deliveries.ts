import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { endDelivery } from '../deliveries/queue/leases.ts';
import { afterKey, BATCH_SIZE, type BatchRow, type PruneBatch, toBatchOfKeys } from './batch.ts';

const WEBHOOKS_PER_BATCH = 1000;

/** Ends deliveries that wait for a failed webhook, and those created before `before` that wait for one that is off. */
export const endOpenDeliveries =
  (before: Date): PruneBatch =>
  async ({ db, now }, after) => {
    const [row] = await queryRows<BatchRow>(
      db,
      sql`
      with batch as (
        select id, status from endpoints ${afterKey(sql.identifier('id'), after)} order by id limit ${WEBHOOKS_PER_BATCH}
      ), ended as (
        update deliveries set ${endDelivery(sql`${now().toISOString()}::timestamptz`)} where id = any(array(
          select open.id from batch cross join lateral (
            select id from deliveries d where d.webhook_id = batch.id and d.status in ('pending', 'held')
              and (batch.status = 'failed' or d.created_at < ${before.toISOString()})
            limit ${BATCH_SIZE} for no key update skip locked
          ) open
          where batch.status <> 'active' limit ${BATCH_SIZE}))
        returning 1
      )
      select (select count(*) from ended)::int as deleted,
        case when (select count(*) from batch) = ${WEBHOOKS_PER_BATCH}
          then (select id::text from batch order by id desc limit 1) end as next`,
    );
    return toBatchOfKeys(row as BatchRow, after);
  };
