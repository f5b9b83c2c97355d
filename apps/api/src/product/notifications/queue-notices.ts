import { randomUUID } from 'node:crypto';
import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { isHeldSql, isOneOf, URGENT_KINDS } from '../../platform/events/held.ts';
import { afterCommit } from '../../transaction.ts';

/** The data of a delivery that only channels get: a notification of the account. */
export interface NoticeData {
  kind: string;
  title: string;
  message: string;
  /** Of the page that shows more, such as `/executions/7`. */
  path: string;
}

interface ChannelNotification extends NoticeData {
  userId: number;
  alertId: number | null;
  /** The task of an alert, whose own channels get the alert anyway; null otherwise. */
  taskId: number | null;
}

/** Writes a delivery of each notification for every channel that its user has chosen for the account. One statement. */
export async function queueNotices(tx: Context, notices: readonly ChannelNotification[]): Promise<void> {
  const at = tx.now();
  const now = at.toISOString();
  const [delayMs = 0] = tx.config.webhookRetryDelaysMs;
  const firstAttemptAt = new Date(at.getTime() + delayMs).toISOString();
  const rows = notices.map(({ userId, alertId, taskId, ...data }) => {
    return { userId, alertId, taskId, kind: data.kind, data: JSON.stringify(data) };
  });
  const queued = await queryRows(
    tx.db,
    sql`
    insert into deliveries (id, webhook_id, event, payload, request_id, status, next_attempt_at, queued_at, created_at,
      alert_id)
    select gen_random_uuid(), h.id, 'notification', '{"event":"notification","timestamp":"' || ${now}::text
        || '","webhookId":"' || h.id || '","userId":' || h.user_id || ',"data":' || n.data || '}',
      ${tx.requestId ?? randomUUID()}::text, case when is_held then 'held' else 'pending' end,
      ${firstAttemptAt}::timestamptz, case when not is_held then ${delayMs === 0 ? now : null}::timestamptz end,
      ${now}::timestamptz, n.alert_id
    from ${recordset('n', rows, { userId: 'int', alertId: 'int', taskId: 'int', kind: 'text', data: 'text' })}
      join endpoints h on h.user_id = n.user_id and h.is_for_account and h.status = 'active'
      join users u on u.id = h.user_id and u.is_active
      cross join lateral (select ${isHeldSql(isOneOf(sql`n.kind`, URGENT_KINDS))} as is_held) held
    where not exists (select from tasks t where t.id = n.task_id and h.id = any(t.channels))
    returning 1`,
  );
  if (queued.length > 0) afterCommit(tx, () => tx.worker.wakeDeliveries());
}
