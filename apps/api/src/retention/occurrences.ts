import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { afterKey, BATCH_SIZE, type BatchRow, type PruneBatch, toBatchOfKeys } from './batch.ts';

/** The occurrence of a single-run task stays while the task is active, because it marks the run as done. */
export const pruneOccurrences =
  (before: Date): PruneBatch =>
  async ({ db }, after) => {
    const at = before.toISOString();
    const [row] = await queryRows<BatchRow>(
      db,
      sql`
      with batch as (
        select id, recurrence = 'once' and status = 'active' as is_required from tasks
        ${afterKey(sql.identifier('id'), after)} order by id limit ${BATCH_SIZE}
      ), deleted as (
        delete from occurrences where ctid = any(array(
          select old.ctid from batch cross join lateral (
            select ctid from occurrences where task_id = batch.id and planned_for < ${at} and recorded_at < ${at}
            order by planned_for limit ${BATCH_SIZE} for update skip locked
          ) old
          where not is_required limit ${BATCH_SIZE}))
        returning 1
      )
      select (select count(*) from deleted)::int as deleted,
        case when (select count(*) from batch) = ${BATCH_SIZE} then (select max(id)::text from batch) end as next`,
    );
    return toBatchOfKeys(row as BatchRow, after);
  };
