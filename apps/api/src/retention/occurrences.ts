import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { BATCH, behind, type LookBehind, lookOf, type Piece } from './batches.ts';

/**
 * Deletes rows of the occurrence ledger that were recorded before an instant (decisions §5), going through the tasks: the
 * primary key has the oldest rows of each task in front, so it takes no index on time, which every run would pay for.
 *
 * The row of a single run stays while its task is active: by it the task knows that it has run.
 */
export const pruneOccurrences =
  (before: Date): LookBehind =>
  async ({ db }, after) => {
    const at = before.toISOString();
    const [piece] = await queryRows<Piece>(
      db,
      sql`
      with piece as (
        select id, recurrence = 'once' and status = 'active' as is_kept from tasks
        ${behind(sql.identifier('id'), after)} order by id limit ${BATCH}
      ), gone as (
        delete from occurrences where ctid = any(array(
          select old.ctid from piece cross join lateral (
            select ctid from occurrences where task_id = piece.id and planned_for < ${at} and recorded_at < ${at}
            order by planned_for limit ${BATCH} for update skip locked
          ) old
          where not is_kept limit ${BATCH}))
        returning 1
      )
      select (select count(*) from gone)::int as deleted,
        case when (select count(*) from piece) = ${BATCH} then (select max(id)::text from piece) end as next`,
    );
    const look = lookOf(piece as Piece);
    return look.deleted < BATCH ? look : { ...look, next: after, ended: false };
  };
