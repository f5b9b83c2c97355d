import { queryRows } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { sql } from 'drizzle-orm';
import { inTransaction } from '../context.ts';
import { recordUsage } from '../usage/record.ts';
import { afterKey, type BatchRow, type PruneBatch, toBatch } from './batch.ts';

/** Smaller than other batches: an execution has a result of any length, a row in the usage ledger, and counters. */
const EXECUTIONS_PER_BATCH = 500;

interface ExecutionBatchRow extends BatchRow {
  ended: { userId: number; day: string; completed: number; failed: number }[] | null;
}

/**
 * Keeps what is pending, running or being retried. Skips executions of locked tasks: a deletion of the task subtracts them
 * from the counters itself. The lock serialises pruners, because deleting an execution updates its retries.
 */
export const pruneExecutions =
  (before: Date): PruneBatch =>
  (ctx, after) =>
    inTransaction(ctx, async (tx) => {
      await tx.db.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.pruneExecutions})`);
      const [row] = await queryRows<ExecutionBatchRow>(
        tx.db,
        sql`
        with batch as (
          select id, created_at from executions ${afterKey(sql.identifier('id'), after)}
          order by id limit ${EXECUTIONS_PER_BATCH}
        ), old as (
          select e.id from executions e join tasks t on t.id = e.task_id
          where e.id = any(array(select id from batch)) and e.status in ('completed', 'failed')
            and e.completed_at < ${before.toISOString()} and not exists (
              select from executions r where r.retry_of_id = e.id and r.completed_at is null)
          for key share of t skip locked for update of e skip locked
        ), deleted as (
          delete from executions where id = any(array(select id from old))
          returning user_id, status, coalesce(usage_day, (completed_at at time zone 'UTC')::date)::text as day
        ), ended as (
          select user_id as "userId", day, count(*) filter (where status = 'completed') as completed,
            count(*) filter (where status = 'failed') as failed
          from deleted group by user_id, day
        )
        select (select jsonb_agg(ended) from ended) as ended, (select count(*) from deleted)::int as deleted, (
          select id::text from (select * from batch order by id desc limit 1) latest
          where (select count(*) from batch) = ${EXECUTIONS_PER_BATCH} and created_at < ${before.toISOString()}
        ) as next`,
      );
      const { ended, ...batch } = row as ExecutionBatchRow;
      await recordUsage(
        tx,
        (ended ?? []).map(({ completed, failed, ...day }) => ({ ...day, completed: -completed, failed: -failed })),
      );
      return toBatch(batch);
    });
