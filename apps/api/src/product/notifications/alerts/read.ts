import type { Alert, ListAlertsQuery } from '@carillon/contract/tasks/alerts';
import { queryRows, toInstant } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { decodeIdCursor, splitPage } from '../../../platform/queries/pages.ts';

type AlertRow = Omit<Alert, 'at' | 'createdAt' | 'undelivered'> & { at: string; createdAt: string };

/** Newest first, in one statement. Throws 400 for a cursor of another list. */
export async function listAlerts({ db }: Context, caller: Caller, { taskId, kind, limit, cursor }: ListAlertsQuery) {
  const before = decodeIdCursor(cursor);
  const rows = await queryRows<AlertRow>(
    db,
    sql`
    select a.id, a.kind, a.task_id, t.name as task_name, a.at, a.execution_id, a.title, a.message, a.created_at,
      (select coalesce(json_agg(s order by s.kind desc, s."to"), '[]') from (
        select case h.kind when 'webhook' then 'webhook' else 'channel' end as kind, coalesce(h.name, h.url) as "to",
          case sent.status when 'sending' then 'pending' else sent.status end as status, sent.attempt as attempts,
          coalesce(sent.ended_at, d.created_at) as at, (
            select l.error from delivery_attempts l where l.delivery_id = sent.id and not l.success
            order by l.attempted_at desc limit 1
          ) as "lastError"
        from deliveries d join endpoints h on h.id = d.webhook_id
          join deliveries sent on sent.id = coalesce(d.digest_id, d.id)
        where d.alert_id = a.id
        union all
        select 'mail', m.recipient, case when m.sent_at is not null then 'delivered' when m.failed_at is not null
          then 'failed' else 'pending' end, m.attempt, coalesce(m.sent_at, m.failed_at, m.created_at), m.error
        from mails m where m.alert_id = a.id
      ) s) as deliveries
    from (
      select * from alerts where user_id = ${caller.id}
        ${taskId === undefined ? sql`` : sql`and task_id = ${taskId}`}
        ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
        ${before === null ? sql`` : sql`and id < ${before}`}
      order by id desc limit ${limit + 1}
    ) a join tasks t on t.id = a.task_id order by a.id desc`,
  );
  const { page, nextCursor } = splitPage(rows, limit, ({ id }) => id);
  return { alerts: page.map(toAlert), pagination: { limit, nextCursor } };
}

const toAlert = (row: AlertRow): Alert => ({
  ...row,
  at: toInstant(row.at),
  createdAt: toInstant(row.createdAt),
  undelivered: row.deliveries.some(({ status }) => status === 'failed'),
  deliveries: row.deliveries.map((delivery) => ({
    ...delivery,
    lastError: delivery.status === 'delivered' ? null : delivery.lastError,
    at: new Date(delivery.at),
  })),
});
