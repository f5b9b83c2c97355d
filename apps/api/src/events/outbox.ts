import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/events';
import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { afterCommit, type Context } from '../context.ts';

/** A change of something that a user owns. */
export interface Event {
  kind: EventKind;
  userId: number;
  /** The payload of the kind. */
  data: Record<string, unknown>;
  /** The task that it concerns; the webhook of a task gets the events of that task only. */
  taskId?: number;
  /** Whether an inbound webhook caused it. */
  viaWebhook?: boolean;
}

interface Subscriber {
  id: string;
  userId: number;
  /** Null: subscribed to all tasks of the user. */
  taskId: number | null;
  events: string[];
}

/**
 * Writes a delivery for each active webhook that subscribes to an event. Call it in the transaction of the change, so
 * that no event is lost and none is sent for a change that was rolled back. The payload is stored as the text that every
 * attempt signs and sends.
 */
export async function recordEvents(ctx: Context, recorded: readonly Event[]): Promise<void> {
  const events = recorded.filter(isBroadcast);
  if (events.length === 0) return;
  const subscribers = await findSubscribers(ctx, events);
  const deliveries = events.flatMap((event) =>
    subscribers.filter((webhook) => matches(webhook, event)).map((webhook) => buildDelivery(ctx, webhook, event)),
  );
  if (deliveries.length === 0) return;
  const at = ctx.now();
  const now = at.toISOString();
  const [delayMs = 0] = ctx.config.webhookRetryDelaysMs;
  const firstAttemptAt = new Date(at.getTime() + delayMs).toISOString();
  await ctx.db.execute(sql`
    insert into deliveries (id, webhook_id, event, payload, request_id, next_attempt_at, queued_at, created_at)
    select id, webhook_id, event, payload, ${ctx.requestId ?? randomUUID()}::text, ${firstAttemptAt}::timestamptz,
      ${delayMs === 0 ? now : null}::timestamptz, ${now}::timestamptz
    from jsonb_to_recordset(${recordset(deliveries)}::jsonb) as d(id uuid, webhook_id uuid, event text, payload text)`);
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

async function findSubscribers(ctx: Context, events: readonly Event[]): Promise<Subscriber[]> {
  const userIds = [...new Set(events.map((event) => event.userId))];
  const taskIds = [...new Set(events.flatMap(({ taskId }) => taskId ?? []))];
  return queryRows<Subscriber>(
    ctx.db,
    sql`select id, user_id as "userId", task_id as "taskId", events from webhooks
      where user_id = any(${`{${userIds.join(',')}}`}::int[]) and status = 'active'
        and (task_id is null or task_id = any(${`{${taskIds.join(',')}}`}::int[]))`,
  );
}

function buildDelivery(ctx: Context, webhook: Subscriber, { kind, userId, data }: Event) {
  const id = randomUUID();
  ctx.trace.mark(`delivery ${id}`, findCause(data));
  const payload = { event: kind, timestamp: ctx.now().toISOString(), webhookId: webhook.id, userId, data };
  return { id, webhook_id: webhook.id, event: kind, payload: JSON.stringify(payload) };
}

/**
 * Task events that an inbound webhook caused are not sent, which prevents loops of webhooks. Execution events are: their
 * caller waits for the result, and the owner's quota of executions bounds a loop through them.
 */
const isBroadcast = ({ kind, viaWebhook }: Event) => !(viaWebhook && kind.startsWith('task.'));

const matches = ({ userId, taskId, events }: Subscriber, event: Event) =>
  userId === event.userId && (taskId === null || taskId === event.taskId) && events.includes(event.kind);

/** The trace to continue. Executions are stored in batches, so the active span may be another execution's. */
function findCause(data: Event['data']): string | undefined {
  const { id } = (data.execution ?? {}) as { id?: number };
  return id === undefined ? undefined : `execution ${id}`;
}
