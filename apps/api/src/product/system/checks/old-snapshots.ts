import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type Finding, findingsFor } from './finding.ts';

const { ok, warning } = findingsFor('old transactions');
/** In transactions, about those of a busy hour: their dead rows cannot be removed. */
const MAX_AGE = 1_000_000;
const LONG_SECONDS = 600;

/** What keeps vacuum from removing the dead rows of the queues, so that each claim reads more of them. */
export async function checkOldSnapshots(db: Db, maxAge = MAX_AGE): Promise<Finding[]> {
  // The xmin of another user's session is hidden from users without pg_read_all_stats, and left out then.
  const held = await queryRows<{ by: string; fix: string; age: number; seconds: number }>(
    db,
    sql`
    select * from (
      select 'a transaction of ' || coalesce(nullif(application_name, ''), backend_type) as by,
        'End it: select pg_terminate_backend(' || pid || ')' as fix, age(backend_xmin) as age,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid() and backend_type <> 'autovacuum worker'
      union all
      select 'the prepared transaction ' || gid, 'End it by commit prepared or rollback prepared', age(transaction),
        extract(epoch from clock_timestamp() - prepared)::int
      from pg_prepared_xacts where database = current_database()
      union all
      select 'the replication slot ' || slot_name, 'Start its reader, or drop it by pg_drop_replication_slot', age(xmin), 0
      from pg_replication_slots where xmin is not null
    ) holders where age > ${maxAge}::int or seconds > ${LONG_SECONDS}::int order by age desc limit 3`,
  );
  if (held.length === 0) return [ok('no old transaction keeps dead rows')];
  return held.map(({ by, fix, age, seconds }) =>
    warning(
      `Dead rows of the last ${age} transactions${seconds > 0 ? ` (${seconds} s)` : ''} are kept for ${by}, so that queues become slow.`,
      `${fix}.`,
    ),
  );
}
