import type { EventKind } from '@carillon/contract/webhooks/events';
import { type deliveries, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../context.ts';

/** An event is written in the transaction of the change that it tells of. */
const WINDOW = sql.raw(`interval '30 seconds'`);
/** Of a webhook in such a window. */
const MAX_SEARCHED = 1000;
const MAX_SHOWN = 50;
/** An execution stands behind the name of its task in the data of an event, and a quote inside of a text is escaped. */
const MAX_DATA_START = 4000;

interface DeliveryRow {
  id: string;
  webhookId: string;
  url: string;
  event: EventKind;
  status: (typeof deliveries.$inferSelect)['status'];
  isWebhookActive: boolean;
  attempts: number;
  nextAttemptAt: string | null;
  lastAttempt: { at: string; statusCode: number | null; error: string | null } | null;
}

interface MailRow {
  to: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  at: string;
  error: string | null;
}

/**
 * What was sent about an execution. Neither deliveries nor mails refer to it. Of those that were made when it started and
 * ended, deliveries are found by its id in their data, and its mail by the subject.
 */
export async function readRunDeliveries(
  ctx: Context,
  caller: Caller,
  id: number,
): Promise<{ deliveries: DeliveryRow[]; mails: MailRow[] }> {
  const [found] = await queryRows<{ deliveries: DeliveryRow[]; mails: MailRow[] }>(
    ctx.db,
    sql`
    with run as (
      select e.id, e.task_id, e.user_id, e.started_at, e.completed_at,
        'Task "' || t.name || '": run ' || e.status as subject
      from executions e join tasks t on t.id = e.task_id where e.id = ${id} and e.user_id = ${caller.id}
    ), found as (
      select distinct on (d.id) d.id, d.webhook_id, d.event, d.status, d.next_attempt_at, d.created_at, h.url,
        h.status = 'active' as is_webhook_active
      from run
      join webhooks h on h.user_id = run.user_id and (h.task_id is null or h.task_id = run.task_id)
      cross join lateral (values (run.started_at), (run.completed_at)) written(at)
      cross join lateral (
        select made.* from deliveries made
        where made.webhook_id = h.id and made.created_at between written.at and written.at + ${WINDOW}
        order by made.created_at limit ${MAX_SEARCHED}
      ) d
      where position('"execution":{"id":' || run.id || ',' in left(d.payload, ${MAX_DATA_START})) > 0
    ), logged as (
      select f.id, f.webhook_id as "webhookId", f.url, f.event, f.status, f.is_webhook_active as "isWebhookActive",
        f.next_attempt_at as "nextAttemptAt", a.attempts, a.last_attempt as "lastAttempt", f.created_at
      from (select * from found order by created_at, url, event limit ${MAX_SHOWN}) f
      cross join lateral (
        select count(*)::int as attempts,
          (array_agg(jsonb_build_object('at', a.attempted_at, 'statusCode', a.status_code, 'error', a.error)
            order by a.attempted_at desc))[1] as last_attempt
        from delivery_attempts a where a.delivery_id = f.id
      ) a
    ), mailed as (
      select m.recipient as "to", m.attempt as attempts, m.error, coalesce(m.sent_at, m.failed_at, m.created_at) as at,
        case when m.sent_at is not null then 'delivered' when m.failed_at is not null then 'failed' else 'pending' end as status
      from run
      cross join lateral (
        select made.* from mails made
        where made.user_id = run.user_id and made.created_at between run.completed_at and run.completed_at + ${WINDOW}
        order by made.created_at limit ${MAX_SEARCHED}
      ) m
      where m.subject = run.subject order by m.created_at limit 1
    )
    select (select coalesce(jsonb_agg(to_jsonb(logged) - 'created_at' order by created_at, url, event), '[]') from logged)
        as deliveries,
      (select coalesce(jsonb_agg(to_jsonb(mailed)), '[]') from mailed) as mails`,
  );
  return found ?? { deliveries: [], mails: [] };
}
