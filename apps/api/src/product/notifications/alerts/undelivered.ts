import { type Db, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../../context.ts';
import { afterCommit, inTransaction } from '../../../transaction.ts';
import { notifyUsers } from '../write.ts';

/** A delivery or mail of an alert that the transaction of the caller has ended as failed. */
interface FailedDelivery {
  /** Of the digest, if it was in one. */
  id: string;
  alertId: number;
  error: string | null;
}

/** Notifies the owners of the alerts, once for each alert: the lock decides between deliveries that fail at the same time. */
export async function reportUndelivered(
  tx: Context,
  by: 'webhook' | 'mail',
  failed: readonly FailedDelivery[],
): Promise<void> {
  if (failed.length === 0) return;
  afterCommit(tx, () => {
    for (const _ of failed) tx.metrics.alertDeliveryFailed(by);
  });
  const alertIds = sql`${`{${[...new Set(failed.map(({ alertId }) => alertId))].join(',')}}`}::int[]`;
  const own = sql`${`{${failed.map(({ id }) => id).join(',')}}`}::uuid[]`;
  const [, unreported] = await Promise.all([
    // Its own statement: the next one then sees what failed before it.
    queryRows(tx.db, sql`select from alerts where id = any(${alertIds}) order by id for no key update`),
    queryRows<{ id: number; userId: number; title: string; channel: string | null }>(
      tx.db,
      sql`
      select id, user_id, title, (
          select h.name from deliveries d join endpoints h on h.id = d.webhook_id
          where d.alert_id = a.id and coalesce(d.digest_id, d.id) = any(${own}) limit 1
        ) as channel
      from alerts a where id = any(${alertIds})
        and not exists (select from deliveries d left join deliveries digest on digest.id = d.digest_id
          where d.alert_id = a.id and coalesce(digest.status, d.status) = 'failed'
            and coalesce(digest.id, d.id) <> all(${own}))
        and not exists (select from mails m where m.alert_id = a.id and m.failed_at is not null and m.id <> all(${own}))
      order by id`,
    ),
  ]);
  const errors = new Map(failed.map(({ alertId, error }) => [alertId, error]));
  await notifyUsers(
    tx,
    unreported.map(({ id, userId, title, channel }) => ({
      userId,
      kind: 'alert.undelivered',
      title: 'An alert could not be delivered',
      message: `"${title}" was not delivered by ${channel === null ? by : `the channel "${channel}"`}. The last error: ${errors.get(id) ?? `its ${channel === null ? 'webhook' : 'channel'} has failed`}`,
      path: '/alerts',
    })),
  );
}

/** `write` ends the mail as failed; false if another process has sent it meanwhile. */
export function failAlertMail(
  ctx: Context,
  failed: FailedDelivery,
  write: (db: Db) => Promise<boolean>,
): Promise<void> {
  return inTransaction(ctx, async (tx) => {
    if (await write(tx.db)) await reportUndelivered(tx, 'mail', [failed]);
  });
}
