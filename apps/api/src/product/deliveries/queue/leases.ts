import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import {
  hasExpiredLease,
  isLeased,
  type Lease,
  type LeasedTable,
  RELEASE_LEASE,
  renewLeases,
} from '../../../lib/queue/leases.ts';
import { inTransaction } from '../../../transaction.ts';

const BATCH_SIZE = 2000;

const DELIVERIES: LeasedTable<string> = { name: 'deliveries', alias: 'd', idType: 'uuid' };

export interface Due {
  isAnyQueued: boolean;
  /** Whether a channel may send what it holds, or has to be looked at. */
  isAnyHeldDue: boolean;
}

export async function enqueueDueRetries(ctx: Context): Promise<Due> {
  const now = ctx.now().toISOString();
  for (;;) {
    const [found] = await inTransaction(ctx, ({ db }) =>
      queryRows<{ queued: number } & Due>(
        db,
        sql`
      with due as (
        update deliveries set queued_at = ${now} where id in (
          select id from deliveries where status = 'pending' and queued_at is null and next_attempt_at <= ${now}
          order by next_attempt_at limit ${BATCH_SIZE} for no key update skip locked)
        returning 1
      )
      select (select count(*)::int from due) as queued,
        exists (select from deliveries where status = 'pending' and queued_at is not null) as is_any_queued,
        exists (select from deliveries where status = 'held' and next_attempt_at <= ${now}) as is_any_held_due`,
      ),
    );
    const { queued = 0, isAnyQueued = false, isAnyHeldDue = false } = found ?? {};
    if (queued < BATCH_SIZE) return { isAnyQueued: isAnyQueued || queued > 0, isAnyHeldDue };
  }
}

export function renewDeliveries(ctx: Context, leases: readonly Lease<string>[]): Promise<Set<string>> {
  return inTransaction(ctx, (tx) => renewLeases(tx.db, DELIVERIES, leases, ctx.config.executionLeaseMs));
}

/** A request that had arrived is sent again as the same attempt: delivery is at least once. Returns how many. */
export async function rescueDeliveries(ctx: Context): Promise<number> {
  const rescued = await inTransaction(ctx, (tx) => requeue(tx, hasExpiredLease('d')));
  ctx.metrics.takenOver('deliveries', rescued);
  if (rescued > 0) ctx.worker.wakeDeliveries();
  return rescued;
}

export async function handBackDeliveries(ctx: Context, leases: readonly Lease<string>[]): Promise<void> {
  if (leases.length > 0) await inTransaction(ctx, (tx) => requeue(tx, isLeased(DELIVERIES, leases)));
}

/** Tests end instead, because their caller no longer waits; so do deliveries to failed webhooks. */
async function requeue(tx: Context, condition: SQL): Promise<number> {
  const now = sql`${tx.now().toISOString()}::timestamptz`;
  const requeued = await queryRows(
    tx.db,
    sql`
    with found as (
      select d.id, d.event = 'test' or h.status = 'failed' as ends from deliveries d join endpoints h on h.id = d.webhook_id
      where d.status = 'sending' and ${condition} for no key update of d skip locked
    )
    update deliveries d set status = case when ends then 'failed' else 'pending' end,
      next_attempt_at = case when not ends then ${now} end, queued_at = case when not ends then ${now} end,
      ended_at = case when ends then ${now} end, ${RELEASE_LEASE}
    from found where d.id = found.id returning 1`,
  );
  return requeued.length;
}

/** Ends a pending or held delivery without another attempt. */
export const endDelivery = (at: SQL): SQL =>
  sql`status = 'failed', ended_at = ${at}, next_attempt_at = null, queued_at = null`;

/**
 * Ends what is pending or held for the matching webhook `h` if it has failed, so that nothing older is sent once it is active: an
 * event whose transaction commits after the failure leaves a delivery. Locks the webhook.
 */
export async function endDeliveriesIfFailed({ db, now }: Context, webhook: SQL): Promise<void> {
  const at = sql`${now().toISOString()}::timestamptz`;
  await Promise.all([
    // Its own statement: the next one then sees a failure that it waited for.
    queryRows(db, sql`select from endpoints h where ${webhook} for no key update`),
    queryRows(
      db,
      sql`update deliveries d set ${endDelivery(at)} from endpoints h
        where ${webhook} and h.status = 'failed' and d.webhook_id = h.id and d.status in ('pending', 'held')`,
    ),
  ]);
}
