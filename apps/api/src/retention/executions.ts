import { queryRows } from '@carillon/db';
import { ADVISORY_LOCKS } from '@carillon/db/advisory-locks';
import { sql } from 'drizzle-orm';
import { inTransaction } from '../context.ts';
import { recordUsage } from '../usage/record.ts';
import { behind, type LookBehind, lookOf, type Piece } from './batches.ts';

/** Fewer than elsewhere: each has a result of any length, a row in the usage ledger that names it, and counters. */
const BATCH = 500;

interface PieceOfRuns extends Piece {
  ended: { userId: number; day: string; completed: number; failed: number }[] | null;
}

/**
 * Deletes executions that ended before an instant, the oldest first, with all figures that count the executions that
 * there are; the usage ledger keeps what they used (decisions §9). Ids grow with time, so it ends at the first that is
 * newer and costs what is old. What is pending or running stays, and the run that it retries.
 *
 * Whoever deletes a task or an account locks its tasks first, and then counts what it takes away: what those tasks have
 * is left to it. Pruners take turns, as the deletion of a run touches those that retry it.
 */
export const pruneExecutions =
  (before: Date): LookBehind =>
  (ctx, after) =>
    inTransaction(ctx, async (tx) => {
      await tx.db.execute(sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.pruneExecutions})`);
      const [piece] = await queryRows<PieceOfRuns>(
        tx.db,
        sql`
        with piece as (
          select id, created_at from executions ${behind(sql.identifier('id'), after)} order by id limit ${BATCH}
        ), old as (
          select e.id from executions e join tasks t on t.id = e.task_id
          where e.id = any(array(select id from piece)) and e.status in ('completed', 'failed')
            and e.completed_at < ${before.toISOString()} and not exists (
              select from executions r where r.retry_of_id = e.id and r.completed_at is null)
          for key share of t skip locked for update of e skip locked
        ), gone as (
          delete from executions where id = any(array(select id from old))
          returning user_id, status, coalesce(usage_day, (completed_at at time zone 'UTC')::date)::text as day
        ), ended as (
          select user_id as "userId", day, count(*) filter (where status = 'completed') as completed,
            count(*) filter (where status = 'failed') as failed
          from gone group by user_id, day
        )
        select (select jsonb_agg(ended) from ended) as ended, (select count(*) from gone)::int as deleted, (
          select id::text from (select * from piece order by id desc limit 1) latest
          where (select count(*) from piece) = ${BATCH} and created_at < ${before.toISOString()}
        ) as next`,
      );
      const { ended, ...look } = piece as PieceOfRuns;
      await recordUsage(
        tx,
        (ended ?? []).map(({ completed, failed, ...day }) => ({ ...day, completed: -completed, failed: -failed })),
      );
      return lookOf(look);
    });
