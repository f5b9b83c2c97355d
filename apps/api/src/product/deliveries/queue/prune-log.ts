import { queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { MAX_LOG_ATTEMPTS } from '../webhooks/read.ts';

const BATCH_SIZE = 2000;

/** Deletes what is beyond the last 100 attempts, unless open. Failed deliveries stay until retention deletes them. */
export async function pruneLog(ctx: Context, webhookIds: readonly string[]): Promise<void> {
  if (webhookIds.length === 0) return;
  let deleted: unknown[];
  do {
    deleted = await queryRows(
      ctx.db,
      sql`
      with ranked as (
        select id, delivery_id, row_number() over (
          partition by webhook_id order by attempted_at desc, attempt desc, id desc) as position
        from delivery_attempts where webhook_id = any(${`{${webhookIds.join(',')}}`}::uuid[])
      ), old as (
        select a.id, a.delivery_id from delivery_attempts a where a.id in (
          select r.id from ranked r join deliveries d on d.id = r.delivery_id
          where r.position > ${MAX_LOG_ATTEMPTS} and d.ended_at is not null limit ${BATCH_SIZE})
        for update skip locked
      ), deleted as (
        delete from deliveries d where d.id in (select delivery_id from old) and (d.status = 'delivered' or d.event = 'test')
          and not exists (select from delivery_attempts a where a.delivery_id = d.id and a.id not in (select id from old))
      )
      delete from delivery_attempts where id in (select id from old) returning 1`,
    );
  } while (deleted.length === BATCH_SIZE && !ctx.worker.stopping.aborted);
}
