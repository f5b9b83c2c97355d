import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { BATCH, behind, type LookBehind, lookOf, type Piece } from './batches.ts';

/** Fewer than elsewhere, since the log of each keeps up to 100 deliveries that are looked at. */
const WEBHOOKS = 100;

/**
 * Deletes deliveries that ended before an instant and are in no log any more (decisions §8), going through the webhooks:
 * what failed is kept until then, to be sent again.
 */
export const pruneDeliveries =
  (before: Date): LookBehind =>
  async ({ db }, after) => {
    const at = before.toISOString();
    const [piece] = await queryRows<Piece>(
      db,
      sql`
      with piece as (
        select id from webhooks ${behind(sql.identifier('id'), after)} order by id limit ${WEBHOOKS}
      ), gone as (
        delete from deliveries where ctid = any(array(
          select old.ctid from piece cross join lateral (
            select ctid from deliveries d where webhook_id = piece.id and created_at < ${at} and ended_at < ${at}
              and not exists (select from delivery_attempts a where a.delivery_id = d.id)
            limit ${BATCH} for update skip locked
          ) old
          limit ${BATCH}))
        returning 1
      )
      select (select count(*) from gone)::int as deleted, case when (select count(*) from piece) = ${WEBHOOKS}
        then (select id::text from piece order by id desc limit 1) end as next`,
    );
    const look = lookOf(piece as Piece);
    return look.deleted < BATCH ? look : { ...look, next: after, ended: false };
  };
