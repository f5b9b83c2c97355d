import type { ChannelKind } from '@carillon/contract/channels/channels';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { queryRows } from '@carillon/db';
import { getTexts, LANGUAGES, type ResultOutcome } from '@carillon/texts';
import { sql } from 'drizzle-orm';
import type { Caller, Context } from '../../context.ts';

/** An event is written in the transaction of the change that it tells of. */
const WINDOW = sql.raw(`interval '30 seconds'`);
/** Of a webhook in such a window. */
const MAX_SEARCHED = 1000;
const MAX_SHOWN = 50;
/** An execution stands behind the name of its task in the data of an event, and a quote inside of a text is escaped. */
const MAX_DATA_START = 4000;

const MAX_LOGGED = 10;

type DeliveryStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'held' | 'digested';

interface RunDelivery {
  id: string;
  /** Of the webhook or the channel. */
  webhookId: string;
  /** Null for a webhook. */
  channel: { name: string; kind: ChannelKind } | null;
  url: string;
  /** Of a webhook. */
  description: string | null;
  event: EventKind;
  status: DeliveryStatus;
  /** Whether the webhook or the channel is on. */
  isActive: boolean;
  nextAttemptAt: string | null;
  /** What a digested delivery was sent in. */
  digest: { status: DeliveryStatus; nextAttemptAt: string | null } | null;
  /** Those of the digest, if there is one. */
  attempts: number;
  /** The latest ten of them, oldest first. */
  log: { at: string; isSuccess: boolean; statusCode: number | null; error: string | null }[];
}

interface RunMail {
  to: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  at: string;
  error: string | null;
}

interface Found {
  deliveries: RunDelivery[];
  mails: RunMail[];
}

const TASK_NAME = '{name}';

/** Of mails about a task, in each language. */
const subjectsOf = (...outcomes: readonly ResultOutcome[]) => {
  const list = LANGUAGES.flatMap((language) =>
    outcomes.map((outcome) => getTexts(language).messages.resultSubject(TASK_NAME, outcome)),
  );
  return sql`array[${sql.join(
    list.map((subject) => sql`${subject}`),
    sql`, `,
  )}]::text[]`;
};

/**
 * What was sent about an execution. Neither deliveries nor mails refer to it. Of those that were made when it started and
 * ended, deliveries are found by its id in their data, and its mail by the subject.
 */
export async function readRunDeliveries(ctx: Context, caller: Caller, id: number): Promise<Found> {
  const [found] = await queryRows<Found>(
    ctx.db,
    sql`
    with run as (
      select e.id, e.task_id, e.user_id, e.started_at, e.completed_at,
        array(select replace(s, ${TASK_NAME}, t.name) from unnest(case e.status when 'failed'
          then ${subjectsOf('failed')} else ${subjectsOf('completed', 'changed', 'not_done')} end) s) as subjects
      from executions e join tasks t on t.id = e.task_id where e.id = ${id} and e.user_id = ${caller.id}
    ), found as (
      select distinct on (d.id) d.id, d.webhook_id, d.event, d.status, d.next_attempt_at, d.created_at, d.digest_id, h.url, h.description,
        h.status = 'active' as is_active,
        case when h.kind <> 'webhook' then jsonb_build_object('name', h.name, 'kind', h.kind) end as channel
      from run
      join endpoints h on h.user_id = run.user_id and (h.task_id is null or h.task_id = run.task_id)
      cross join lateral (values (run.started_at), (run.completed_at)) written(at)
      cross join lateral (
        select made.* from deliveries made
        where made.webhook_id = h.id and made.event <> 'digest' and made.created_at between written.at and written.at + ${WINDOW}
        order by made.created_at limit ${MAX_SEARCHED}
      ) d
      where position('"execution":{"id":' || run.id || ',' in left(d.payload, ${MAX_DATA_START})) > 0
    ), logged as (
      select f.id, f.webhook_id as "webhookId", f.channel, f.url, f.description, f.event, f.status, f.is_active as "isActive",
        f.next_attempt_at as "nextAttemptAt", f.created_at, (
          select jsonb_build_object('status', g.status, 'nextAttemptAt', g.next_attempt_at)
          from deliveries g where g.id = f.digest_id
        ) as digest, coalesce(a.attempts, 0) as attempts, coalesce(a.log, '[]') as log
      from (select * from found order by created_at, url, event limit ${MAX_SHOWN}) f
      cross join lateral (
        select max(a.count)::int as attempts, jsonb_agg(jsonb_build_object('at', a.attempted_at, 'isSuccess', a.success,
          'statusCode', a.status_code, 'error', a.error) order by a.attempted_at) as log
        from (
          select l.*, count(*) over () from delivery_attempts l where l.delivery_id = coalesce(f.digest_id, f.id)
          order by l.attempted_at desc limit ${MAX_LOGGED}
        ) a
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
      where m.subject = any(run.subjects) order by m.created_at limit 1
    )
    select (select coalesce(jsonb_agg(to_jsonb(logged) - 'created_at' order by created_at, url, event), '[]') from logged)
        as deliveries,
      (select coalesce(jsonb_agg(to_jsonb(mailed)), '[]') from mailed) as mails`,
  );
  return found ?? { deliveries: [], mails: [] };
}
