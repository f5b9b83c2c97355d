import { deliveries, deliveryAttempts, webhooks } from '@carillon/db';
import { and, eq, gte, inArray, ne, or, sql } from 'drizzle-orm';
import { afterCommit, type Caller, type Context, inTransaction } from '../context.ts';
import { AppError } from '../errors.ts';
import { isOwn, refuseWebhook } from './read.ts';

/**
 * Sends a delivery again: the same bytes under the same id, from its first attempt on. One that waits for a retry is
 * sent now, and one that is just being sent goes on. `id` is the delivery's or that of an entry of its log. Returns the
 * delivery's id. Refusals: 404, and 409 where the webhook is not active.
 */
export function redeliver(ctx: Context, caller: Caller, webhookId: string, id: string): Promise<string> {
  return inTransaction(ctx, async (tx) => {
    await lockActive(tx, caller, webhookId);
    const logged = tx.db
      .select({ id: deliveryAttempts.deliveryId })
      .from(deliveryAttempts)
      .where(eq(deliveryAttempts.id, id));
    const [found] = await tx.db
      .select({ id: deliveries.id, status: deliveries.status })
      .from(deliveries)
      .where(and(eq(deliveries.webhookId, webhookId), or(eq(deliveries.id, id), inArray(deliveries.id, logged))));
    if (!found) throw new AppError('not_found', 'There is no such delivery.');
    const { now, ...again } = queuedNow(tx);
    const values = found.status === 'pending' ? now : { ...now, ...again };
    if (found.status !== 'sending') await tx.db.update(deliveries).set(values).where(eq(deliveries.id, found.id));
    afterCommit(tx, () => tx.worker.wakeDeliveries());
    return found.id;
  });
}

/** Sends again all that has failed since `since`, tests left out; returns how many. Refusals as for `redeliver`. */
export function redeliverSince(ctx: Context, caller: Caller, webhookId: string, since: Date): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    await lockActive(tx, caller, webhookId);
    const { now, ...again } = queuedNow(tx);
    const failed = and(
      eq(deliveries.webhookId, webhookId),
      eq(deliveries.status, 'failed'),
      ne(deliveries.event, 'test'),
      gte(deliveries.endedAt, since),
    );
    const { count } = await tx.db
      .update(deliveries)
      .set({ ...now, ...again })
      .where(failed);
    afterCommit(tx, () => tx.worker.wakeDeliveries());
    return count;
  });
}

/** The columns of a delivery that is queued at this moment, and of one that begins anew besides. */
function queuedNow(ctx: Context) {
  const at = ctx.now();
  return {
    now: { nextAttemptAt: at, queuedAt: at },
    ...{ status: 'pending' as const, attempt: 0, previousAttemptAt: null, endedAt: null },
  };
}

/** The webhook's row before those of its deliveries, the order of every other transaction. */
async function lockActive(ctx: Context, caller: Caller, id: string) {
  const [webhook] = await ctx.db
    .select({ isActive: sql<boolean>`${webhooks.status} = 'active'` })
    .from(webhooks)
    .where(isOwn(caller, id))
    .for('no key update');
  if (!webhook) return refuseWebhook();
  if (!webhook.isActive) throw new AppError('conflict', 'The webhook is not active: switch it on first.');
}
