import { queryRows, recordset } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../context.ts';

/** Waiting retries that one statement queues. */
const BATCH = 2000;

/** Our claim on a delivery that is being sent. */
export interface Lease {
  id: string;
  claimToken: string;
}

/** Queues the retries whose wait is over, and says whether anything waits to be sent. */
export async function queueRetries(ctx: Context): Promise<boolean> {
  const now = ctx.now().toISOString();
  for (;;) {
    const [found] = await queryRows<{ queued: number; waiting: boolean }>(
      ctx.db,
      sql`
      with due as (
        update deliveries set queued_at = ${now} where id in (
          select id from deliveries where status = 'pending' and queued_at is null and next_attempt_at <= ${now}
          order by next_attempt_at limit ${BATCH} for no key update skip locked)
        returning 1
      )
      select (select count(*)::int from due) as queued,
        exists (select from deliveries where status = 'pending' and queued_at is not null) as waiting`,
    );
    const { queued = 0, waiting = false } = found ?? {};
    if (queued < BATCH) return waiting || queued > 0;
  }
}

/** Renews the leases for another `EXECUTION_LEASE_MS`; returns the ids that are still ours. */
export async function renewLeases(ctx: Context, leases: readonly Lease[]): Promise<Set<string>> {
  const until = new Date(ctx.now().getTime() + ctx.config.executionLeaseMs).toISOString();
  const held = await queryRows<{ id: string }>(
    ctx.db,
    sql`
    with mine as (
      select id, "claimToken" as token from jsonb_to_recordset(${recordset(leases)}::jsonb) as l(id uuid, "claimToken" uuid)
    ), free as (
      select d.id from deliveries d join mine using (id) where d.claim_token = mine.token
      for no key update of d skip locked
    ), renewed as (
      update deliveries d set lease_until = greatest(d.lease_until, ${until}) from free where d.id = free.id
    )
    select d.id from deliveries d join mine using (id) where d.claim_token = mine.token`,
  );
  return new Set(held.map(({ id }) => id));
}

/**
 * Queues again what dead processes were sending: it may have arrived, and is sent once more under the same id, as the
 * same attempt (decisions §8, "at least once"). Returns how many.
 */
export async function rescueExpired(ctx: Context): Promise<number> {
  const rescued = await requeue(ctx, sql`d.lease_until < ${ctx.now().toISOString()}`);
  ctx.metrics.takenOver('deliveries', rescued);
  if (rescued > 0) ctx.worker.wakeDeliveries();
  return rescued;
}

/** Gives deliveries of this process back to the queue, so that another one sends them at once. */
export async function handBack(ctx: Context, leases: readonly Lease[]): Promise<void> {
  if (leases.length === 0) return;
  await requeue(
    ctx,
    sql`(d.id, d.claim_token) in (
      select id, "claimToken" from jsonb_to_recordset(${recordset(leases)}::jsonb) as l(id uuid, "claimToken" uuid))`,
  );
}

/** Whoever asked for a test has gone with the process, and a failed webhook is sent nothing: these end. */
async function requeue(ctx: Context, which: SQL): Promise<number> {
  const now = sql`${ctx.now().toISOString()}::timestamptz`;
  const requeued = await queryRows(
    ctx.db,
    sql`
    with found as (
      select d.id, d.event = 'test' or h.status = 'failed' as ends from deliveries d join webhooks h on h.id = d.webhook_id
      where d.status = 'sending' and ${which} for no key update of d skip locked
    )
    update deliveries d set status = case when ends then 'failed' else 'pending' end,
      next_attempt_at = case when not ends then ${now} end, queued_at = case when not ends then ${now} end,
      ended_at = case when ends then ${now} end, claim_token = null, lease_until = null
    from found where d.id = found.id returning 1`,
  );
  return requeued.length;
}
