import { type Db, queryRows } from '@carillon/db';
import { getTexts, type Language } from '@carillon/texts';
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
    queryRows<{ id: number; userId: number; language: Language; title: string; channel: string | null }>(
      tx.db,
      sql`
      select a.id, a.user_id, u.language, a.title, (
          select h.name from deliveries d join endpoints h on h.id = d.webhook_id
          where d.alert_id = a.id and coalesce(d.digest_id, d.id) = any(${own}) limit 1
        ) as channel
      from alerts a join users u on u.id = a.user_id where a.id = any(${alertIds})
        and not exists (select from deliveries d left join deliveries digest on digest.id = d.digest_id
          where d.alert_id = a.id and coalesce(digest.status, d.status) = 'failed'
            and coalesce(digest.id, d.id) <> all(${own}))
        and not exists (select from mails m where m.alert_id = a.id and m.failed_at is not null and m.id <> all(${own}))
      order by a.id`,
    ),
  ]);
  const errors = new Map(failed.map(({ alertId, error }) => [alertId, error]));
  await notifyUsers(
    tx,
    unreported.map(({ id, userId, language, title, channel }) => {
      const { notices } = getTexts(language);
      const message = notices.undeliveredText(title, channel === null ? by : { channel }, errors.get(id) ?? null);
      return { userId, kind: 'alert.undelivered', title: notices.undelivered, message, path: '/alerts' };
    }),
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
