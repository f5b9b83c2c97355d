import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { ALERT_KINDS, queryRows } from '@carillon/db';
import { sql } from 'drizzle-orm';
import type { Context } from '../../context.ts';
import { afterCommit, atCommit } from '../../transaction.ts';
import { isHeldSql, isOneOf } from './held.ts';

export interface Event {
  kind: EventKind;
  userId: number;
  data: Record<string, unknown>;
  /** The webhook of a task gets the events of that task only. */
  taskId?: number;
  viaWebhook?: boolean;
  alertId?: number;
  /** Writes it to the log only. */
  isUnsent?: boolean;
  /** Sends it neither to the webhook of the task nor to its channels. */
  skipsTaskWebhook?: boolean;
  /** Sends it to no channel: another attempt of the run follows. */
  skipsChannels?: boolean;
  /** Tells channels that the answer was cut off: `data` has the specified fields only. */
  isCut?: boolean;
}

/**
 * Writes events to the log, and a delivery of each for every webhook that subscribes to it, at the end of the transaction of
 * the change: no event is lost or made up.
 */
export function recordEvents(tx: Context, events: readonly Event[]): void {
  if (events.length === 0) return;
  atCommit(tx, writeEvents, events);
}

/** Positions are locked in a fixed order. Deliveries go to the webhooks that the end of the transaction sees. */
async function writeEvents(tx: Context, events: readonly Event[]): Promise<void> {
  const at = tx.now();
  const now = at.toISOString();
  const [delayMs = 0] = tx.config.webhookRetryDelaysMs;
  const firstAttemptAt = new Date(at.getTime() + delayMs).toISOString();
  const rows = toRows(events);
  const column = (toElement: (row: Row) => unknown) => `{${rows.map(toElement).join(',')}}`;
  // Arrays and lines cost the database half of what it takes to parse the same as JSON. JSON itself has no line breaks.
  const lines = rows.map(({ data }) => JSON.stringify(data)).join('\n');
  const deliveries = await queryRows<{ id: string; row: number }>(
    tx.db,
    sql`
    with e as materialized (
      select user_id, task_id, alert_id, string_to_array(kinds, '+') as kinds, is_sent, skips_task, skips_channels,
        is_cut, data, row
      from unnest(${column((row) => row.userId)}::int[], ${column((row) => row.taskId ?? 'null')}::int[],
        ${column((row) => row.alertId ?? 'null')}::int[], ${column((row) => row.kinds.join('+'))}::text[],
        ${column((row) => row.isSent)}::boolean[], ${column((row) => row.skipsTaskWebhook)}::boolean[], ${column((row) => row.skipsChannels)}::boolean[],
        ${column((row) => row.isCut)}::boolean[],
        string_to_array(${lines}, e'\\n'))
        with ordinality r(user_id, task_id, alert_id, kinds, is_sent, skips_task, skips_channels, is_cut, data, row)
    ), positions as (
      insert into event_positions as p (user_id, last_id)
      select user_id, sum(cardinality(kinds)) from e group by user_id order by user_id
      on conflict (user_id) do update set last_id = p.last_id + excluded.last_id
      returning user_id, last_id
    ), logged as (
      insert into events (user_id, id, kinds, task_id, data, created_at)
      select user_id, last_id + cardinality(kinds) - sum(cardinality(kinds)) over (partition by user_id order by row desc),
        kinds, task_id, data, ${now}::timestamptz
      from e join positions using (user_id)
    ), d as materialized (
      select gen_random_uuid() as id, h.id as webhook_id, e.alert_id, e.row, k.event, ${isHeld} as is_held,
        '{"event":"' || k.event || '","timestamp":"' || ${now}::text || '","webhookId":"' || h.id || '","userId":'
          || e.user_id || case when e.is_cut and h.kind <> 'webhook' then ',"isCut":true' else '' end || ',"data":' || e.data
          || '}' as payload
      from e join endpoints h on h.user_id = e.user_id and h.status = 'active' and h.events && e.kinds
        and (h.task_id is null or h.task_id = e.task_id and not e.skips_task)
        and (h.kind = 'webhook' or not e.skips_task and not e.skips_channels
          and exists (select from tasks t where t.id = e.task_id and h.id = any(t.channels)))
      cross join unnest(e.kinds) k(event)
      where e.is_sent and k.event = any(h.events)
    ), queued as (
      insert into deliveries (id, webhook_id, event, payload, request_id, status, next_attempt_at, queued_at, created_at,
        alert_id)
      select id, webhook_id, event, payload, ${tx.requestId ?? randomUUID()}::text,
        case when is_held then 'held' else 'pending' end, ${firstAttemptAt}::timestamptz,
        case when not is_held then ${delayMs === 0 ? now : null}::timestamptz end, ${now}::timestamptz, alert_id
      from d
    )
    select id, row::int from d`,
  );
  if (deliveries.length === 0) return;
  for (const { id, row } of deliveries) tx.trace.mark(`delivery ${id}`, findCause(rows[row - 1]?.data));
  afterCommit(tx, () => tx.worker.wakeDeliveries());
}

interface Row extends Pick<Event, 'userId' | 'taskId' | 'alertId' | 'data'> {
  kinds: EventKind[];
  isSent: boolean;
  skipsTaskWebhook: boolean;
  skipsChannels: boolean;
  isCut: boolean;
}

/** Events of a run come in pairs with the same data, which are one row. */
function toRows(events: readonly Event[]): Row[] {
  const rows: Row[] = [];
  for (const event of events) {
    const {
      kind,
      userId,
      taskId,
      alertId,
      data,
      skipsTaskWebhook = false,
      skipsChannels = false,
      isCut = false,
    } = event;
    const flags = { isSent: isSent(event), skipsTaskWebhook, skipsChannels, isCut };
    const row = { userId, taskId, alertId, data, kinds: [kind], ...flags };
    const last = rows.at(-1);
    if (last?.data === data && last.userId === userId && last.isSent === row.isSent) last.kinds.push(kind);
    else rows.push(row);
  }
  return rows;
}

const isHeld = isHeldSql(isOneOf(sql`k.event`, ALERT_KINDS));

/** Task events that an inbound webhook caused are not sent: webhooks could form a loop. Quotas bound `execution.*`. */
const isSent = ({ kind, viaWebhook, isUnsent }: Event) => !isUnsent && !(viaWebhook && kind.startsWith('task.'));

/** Executions are stored in batches, so the active span may be another execution's. */
function findCause(data: Event['data'] = {}): string | undefined {
  const { id } = (data.execution ?? {}) as { id?: number };
  return id === undefined ? undefined : `execution ${id}`;
}
