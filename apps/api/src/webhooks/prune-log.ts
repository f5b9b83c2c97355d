import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../context.ts';
import { KEPT_ATTEMPTS } from './read.ts';

/** Short statements, so that nobody waits long for one. */
const BATCH = 2000;

/**
 * Deletes from the logs of these webhooks what is beyond the last 100 attempts, but for open deliveries, and with it the
 * deliveries that got through (decisions §8). What failed is kept for a while, to be sent again.
 */
export async function pruneLog(ctx: Context, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  let deleted: unknown[];
  do {
    deleted = await queryRows(
      ctx.db,
      sql`
      with ranked as (
        select id, delivery_id, row_number() over (
          partition by webhook_id order by attempted_at desc, attempt desc, id desc) as place
        from delivery_attempts where webhook_id = any(${`{${webhookIds.join(',')}}`}::uuid[])
      ), old as (
        select a.id, a.delivery_id from delivery_attempts a where a.id in (
          select r.id from ranked r join deliveries d on d.id = r.delivery_id
          where r.place > ${KEPT_ATTEMPTS} and d.ended_at is not null limit ${BATCH})
        for update skip locked
      ), gone as (
        delete from deliveries d where d.id in (select delivery_id from old) and (d.status = 'delivered' or d.event = 'test')
          and not exists (select from delivery_attempts a where a.delivery_id = d.id and a.id not in (select id from old))
      )
      delete from delivery_attempts where id in (select id from old) returning 1`,
    );
  } while (deleted.length === BATCH && !ctx.worker.stopping.aborted);
}
