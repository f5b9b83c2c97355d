import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { type DoctorTexts, type Finding, findingsFor } from './finding.ts';

const { ok, warning } = findingsFor('old transactions');
/** In transactions, about those of a busy hour: their dead rows cannot be removed. */
const MAX_AGE = 1_000_000;
const LONG_SECONDS = 600;

/** What keeps vacuum from removing the dead rows of the queues, so that each claim reads more of them. */
export async function checkOldSnapshots(db: Db, texts: DoctorTexts, maxAge = MAX_AGE): Promise<Finding[]> {
  // The xmin of another user's session is hidden from users without pg_read_all_stats, and left out then.
  const held = await queryRows<{
    kind: 'session' | 'prepared' | 'slot';
    name: string;
    pid: number;
    age: number;
    seconds: number;
  }>(
    db,
    sql`
    select * from (
      select 'session' as kind, coalesce(nullif(application_name, ''), backend_type) as name, pid, age(backend_xmin) as age,
        extract(epoch from clock_timestamp() - xact_start)::int as seconds
      from pg_stat_activity where backend_xmin is not null and pid <> pg_backend_pid() and backend_type <> 'autovacuum worker'
      union all
      select 'prepared', gid, 0, age(transaction),
        extract(epoch from clock_timestamp() - prepared)::int
      from pg_prepared_xacts where database = current_database()
      union all
      select 'slot', slot_name, 0, age(xmin), 0
      from pg_replication_slots where xmin is not null
    ) holders where age > ${maxAge}::int or seconds > ${LONG_SECONDS}::int order by age desc limit 3`,
  );
  if (held.length === 0) return [ok(texts.noOldTransaction)];
  return held.map(({ kind, name, pid, age, seconds }) =>
    warning(texts.deadRows(age, seconds, texts.snapshotHolders[kind](name)), texts.endSnapshot[kind](pid)),
  );
}
