import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { findFirstLedgerMonth } from '../usage/record.ts';
import { afterKey, type BatchRow, type PruneBatch, toBatch } from './batch.ts';

const USERS_PER_BATCH = 100;

/** Deletes what belongs to the dropped months of the ledger. The counters of months stay: they are few, and totals are their sums. */
export const pruneUsageCounters: PruneBatch = async ({ db }, after) => {
  const month = await findFirstLedgerMonth(db);
  if (month === null) return { deleted: 0, next: null, isLast: true };
  const [row] = await queryRows<BatchRow>(
    db,
    sql`
    with batch as (
      select id from users ${afterKey(sql.identifier('id'), after)} order by id limit ${USERS_PER_BATCH}
    ), days as (
      delete from usage_counters c using batch
      where c.user_id = batch.id and c.period < ${`${month}-01`} and length(c.period) = 10 returning 1
    ), firings as (
      delete from usage_alert_firings f using usage_alerts a join batch on batch.id = a.user_id
      where f.alert_id = a.id and f.period < ${month} returning 1
    ), requests as (
      delete from api_key_usage u using api_keys k join batch on batch.id = k.user_id
      where u.key_id = k.id and u.period < ${month} returning 1
    )
    select ((select count(*) from days) + (select count(*) from firings) + (select count(*) from requests))::int as deleted,
      case when (select count(*) from batch) = ${USERS_PER_BATCH} then (select max(id)::text from batch) end as next`,
  );
  return toBatch(row as BatchRow);
};
