import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { afterCommit, type Context, writeBeforeCommit } from '../context.ts';

export interface Event {
  kind: EventKind;
  userId: number;
  data: Record<string, unknown>;
  /** The webhook of a task gets the events of that task only. */
  taskId?: number;
  viaWebhook?: boolean;
  /** Writes it to the log only. */
  isUnsent?: boolean;
}

/**
 * Writes events to the log, and a delivery of each for every webhook that subscribes to it, at the end of the transaction of
 * the change: no event is lost or made up.
 */
export function recordEvents(tx: Context, events: readonly Event[]): void {
  if (events.length > 0) writeBeforeCommit(tx, writeEvents, events);
}

/** Positions are locked in a fixed order. Deliveries go to the webhooks that the end of the transaction sees. */
async function writeEvents(tx: Context, events: readonly Event[]): Promise<void> {
  const at = tx.now();
  const now = at.toISOString();
  const [delayMs = 0] = tx.config.webhookRetryDelaysMs;
  const firstAttemptAt = new Date(at.getTime() + delayMs).toISOString();
  // Events of a run come in pairs with the same data, which is sent once.
  const texts = [...new Set(events.map(({ data }) => data))];
  const indexOf = new Map(texts.map((data, index) => [data, index + 1]));
  const records = events.map((event, n) => ({
    n,
    userId: event.userId,
    event: event.kind,
    taskId: event.taskId ?? null,
    textIndex: indexOf.get(event.data),
    isSent: isSent(event),
  }));
  const deliveries = await queryRows<{ id: string; n: number }>(
    tx.db,
    sql`
    with e as materialized (
      select r.*, x.data from ${recordset('r', records, {
        n: 'int',
        userId: 'int',
        event: 'text',
        taskId: 'int',
        textIndex: 'int',
        isSent: 'boolean',
      })}
      join jsonb_array_elements_text(${JSON.stringify(texts.map((data) => JSON.stringify(data)))}::jsonb)
        with ordinality x(data, index) on x.index = r.text_index
    ), positions as (
      insert into event_positions as p (user_id, last_id)
      select user_id, count(*) from e group by user_id order by user_id
      on conflict (user_id) do update set last_id = p.last_id + excluded.last_id
      returning user_id, last_id
    ), logged as (
      insert into events (user_id, id, event, task_id, data, created_at)
      select user_id, last_id + 1 - row_number() over (partition by user_id order by n desc), event, task_id, data,
        ${now}::timestamptz
      from e join positions using (user_id)
    ), d as materialized (
      select gen_random_uuid() as id, h.id as webhook_id, e.n, e.event,
        '{"event":"' || e.event || '","timestamp":"' || ${now}::text || '","webhookId":"' || h.id || '","userId":'
          || e.user_id || ',"data":' || e.data || '}' as payload
      from e join webhooks h on h.user_id = e.user_id and h.status = 'active' and e.event = any(h.events)
        and (h.task_id is null or h.task_id = e.task_id)
      where e.is_sent
    ), queued as (
      insert into deliveries (id, webhook_id, event, payload, request_id, next_attempt_at, queued_at, created_at)
      select id, webhook_id, event, payload, ${tx.requestId ?? randomUUID()}::text, ${firstAttemptAt}::timestamptz,
        ${delayMs === 0 ? now : null}::timestamptz, ${now}::timestamptz
      from d
    )
    select id, n from d`,
  );
  if (deliveries.length === 0) return;
  for (const { id, n } of deliveries) tx.trace.mark(`delivery ${id}`, findCause(events[n]?.data));
  afterCommit(tx, () => tx.worker.wakeDeliveries());
}

/** Task events that an inbound webhook caused are not sent: webhooks could form a loop. Quotas bound `execution.*`. */
const isSent = ({ kind, viaWebhook, isUnsent }: Event) => !isUnsent && !(viaWebhook && kind.startsWith('task.'));

/** Executions are stored in batches, so the active span may be another execution's. */
function findCause(data: Event['data'] = {}): string | undefined {
  const { id } = (data.execution ?? {}) as { id?: number };
  return id === undefined ? undefined : `execution ${id}`;
}
