import type { Alert, ListAlertsQuery } from '@carillon/contract/tasks/alerts';
import { queryRows, toInstant, toInstantOrNull } from '@carillon/db';
import { type SQL, sql } from 'drizzle-orm';
import type { Caller, Context } from '../../../context.ts';
import { AppError } from '../../../errors.ts';
import { decodeIdCursor, splitPage } from '../../../platform/queries/pages.ts';

type AlertRow = Omit<Alert, 'at' | 'createdAt' | 'acknowledgedAt' | 'undelivered'> & {
  at: string;
  createdAt: string;
  acknowledgedAt: string | null;
};

/** Newest first, in one statement. Throws 400 for a cursor of another list. */
export async function listAlerts(ctx: Context, caller: Caller, { taskId, kind, limit, cursor }: ListAlertsQuery) {
  const before = decodeIdCursor(cursor);
  const filter = sql`
    ${taskId === undefined ? sql`` : sql`and task_id = ${taskId}`}
    ${kind === undefined ? sql`` : sql`and kind = ${kind}`}
    ${before === null ? sql`` : sql`and id < ${before}`}`;
  const rows = await readAlerts(ctx, caller, filter, limit + 1);
  const { page, nextCursor } = splitPage(rows, limit, ({ id }) => id);
  return { alerts: page.map(toAlert), pagination: { limit, nextCursor } };
}

/** Throws 404. */
export async function getAlert(ctx: Context, caller: Caller, id: number): Promise<Alert> {
  const [row] = await readAlerts(ctx, caller, sql`and id = ${id}`, 1);
  if (!row) throw new AppError('not_found', 'Alert not found');
  return toAlert(row);
}

const readAlerts = ({ db }: Context, caller: Caller, filter: SQL, limit: number) =>
  queryRows<AlertRow>(
    db,
    sql`
    select a.id, a.kind, a.task_id, t.name as task_name, a.at, a.execution_id, a.title, a.message, a.created_at, a.acknowledged_at,
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
      select * from alerts where user_id = ${caller.id} ${filter} order by id desc limit ${limit}
    ) a join tasks t on t.id = a.task_id order by a.id desc`,
  );

const toAlert = (row: AlertRow): Alert => ({
  ...row,
  at: toInstant(row.at),
  createdAt: toInstant(row.createdAt),
  acknowledgedAt: toInstantOrNull(row.acknowledgedAt),
  undelivered: row.deliveries.some(({ status }) => status === 'failed'),
  deliveries: row.deliveries.map((delivery) => ({
    ...delivery,
    lastError: delivery.status === 'delivered' ? null : delivery.lastError,
    at: new Date(delivery.at),
  })),
});
