import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/webhooks/events';
import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { afterCommit, type Context } from '../context.ts';

export interface Event {
  kind: EventKind;
  userId: number;
  data: Record<string, unknown>;
  /** The webhook of a task gets the events of that task only. */
  taskId?: number;
  viaWebhook?: boolean;
}

interface Subscriber {
  id: string;
  userId: number;
  taskId: number | null;
  events: string[];
}

/** Writes a delivery for each subscribed webhook, in the transaction of the change: no event is lost or made up. */
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
    select d.id, d.webhook_id, d.event, d.payload, ${ctx.requestId ?? randomUUID()}::text, ${firstAttemptAt}::timestamptz,
      ${delayMs === 0 ? now : null}::timestamptz, ${now}::timestamptz
    from ${recordset('d', deliveries, { id: 'uuid', webhookId: 'uuid', event: 'text', payload: 'text' })}`);
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

async function findSubscribers(ctx: Context, events: readonly Event[]): Promise<Subscriber[]> {
  const userIds = [...new Set(events.map((event) => event.userId))];
  const taskIds = [...new Set(events.flatMap(({ taskId }) => taskId ?? []))];
  return queryRows<Subscriber>(
    ctx.db,
    sql`select id, user_id, task_id, events from webhooks
      where user_id = any(${`{${userIds.join(',')}}`}::int[]) and status = 'active'
        and (task_id is null or task_id = any(${`{${taskIds.join(',')}}`}::int[]))`,
  );
}

function buildDelivery(ctx: Context, webhook: Subscriber, { kind, userId, data }: Event) {
  const id = randomUUID();
  ctx.trace.mark(`delivery ${id}`, findCause(data));
  const payload = { event: kind, timestamp: ctx.now().toISOString(), webhookId: webhook.id, userId, data };
  return { id, webhookId: webhook.id, event: kind, payload: JSON.stringify(payload) };
}

/** Task events that an inbound webhook caused are not sent: webhooks could form a loop. Quotas bound `execution.*`. */
const isBroadcast = ({ kind, viaWebhook }: Event) => !(viaWebhook && kind.startsWith('task.'));

const matches = ({ userId, taskId, events }: Subscriber, event: Event) =>
  userId === event.userId && (taskId === null || taskId === event.taskId) && events.includes(event.kind);

/** Executions are stored in batches, so the active span may be another execution's. */
function findCause(data: Event['data']): string | undefined {
  const { id } = (data.execution ?? {}) as { id?: number };
  return id === undefined ? undefined : `execution ${id}`;
}
