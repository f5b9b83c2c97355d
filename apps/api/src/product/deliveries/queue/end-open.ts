import { queryRows } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';

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
