import { deliveries, deliveryAttempts, endpoints } from '@carillon/db';
import { and, eq, gte, inArray, ne, or, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import type { OwnEndpoint } from './endpoint.ts';

/**
 * Sends the same payload again, from attempt 1. `id`: a delivery or an entry of its log. Throws 404; 409 unless
 * active.
 */
export function redeliver(ctx: Context, receiver: OwnEndpoint, id: string): Promise<string> {
  return inTransaction(ctx, async (tx) => {
    await lockActive(tx, receiver);
    const logged = tx.db
      .select({ id: deliveryAttempts.deliveryId })
      .from(deliveryAttempts)
      .where(eq(deliveryAttempts.id, id));
    const [found] = await tx.db
      .select({ id: deliveries.id, status: deliveries.status })
      .from(deliveries)
      .where(and(eq(deliveries.webhookId, receiver.id), or(eq(deliveries.id, id), inArray(deliveries.id, logged))));
    if (!found) throw new AppError('not_found', 'Delivery not found');
    const queued = { nextAttemptAt: tx.now(), queuedAt: tx.now() };
    const values = found.status === 'pending' ? queued : { ...queued, ...FIRST_ATTEMPT };
    if (found.status !== 'sending') await tx.db.update(deliveries).set(values).where(eq(deliveries.id, found.id));
    afterCommit(tx, () => tx.worker.wakeDeliveries());
    return found.id;
  });
}

/** Returns how many. Throws like `redeliver`. */
export function redeliverSince(ctx: Context, receiver: OwnEndpoint, since: Date): Promise<number> {
  return inTransaction(ctx, async (tx) => {
    await lockActive(tx, receiver);
    const failed = and(
      eq(deliveries.webhookId, receiver.id),
      eq(deliveries.status, 'failed'),
      ne(deliveries.event, 'test'),
      gte(deliveries.endedAt, since),
    );
    const { count } = await tx.db
      .update(deliveries)
      .set({ ...FIRST_ATTEMPT, nextAttemptAt: tx.now(), queuedAt: tx.now() })
      .where(failed);
    afterCommit(tx, () => tx.worker.wakeDeliveries());
    return count;
  });
}

const FIRST_ATTEMPT = {
  status: 'pending' as const,
  attempt: 0,
  previousAttemptAt: null,
  endedAt: null,
  digestId: null,
};

/** Locks the webhook before its deliveries, as every other transaction does. */
async function lockActive(ctx: Context, { where, notFound, inactive }: OwnEndpoint) {
  const [webhook] = await ctx.db
    .select({ isActive: sql<boolean>`${endpoints.status} = 'active'` })
    .from(endpoints)
    .where(where)
    .for('no key update');
  if (!webhook) throw notFound();
  if (!webhook.isActive) throw new AppError('conflict', inactive);
}
