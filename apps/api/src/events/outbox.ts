import { randomUUID } from 'node:crypto';
import type { EventKind } from '@carillon/contract/events';
import { queryRows, recordset } from '@carillon/db';
import { sql } from 'drizzle-orm';
import { afterCommit, type Context } from '../context.ts';

/** Something that happened to what a user owns. `data` is the payload of the kind (specification "Data by event kind"). */
export interface Event {
  kind: EventKind;
  userId: number;
  data: Record<string, unknown>;
  /** The task that it is about: that task's own webhook hears of no other. */
  taskId?: number;
  /** Whether an inbound webhook caused it: then its `task.*` events are sent to none (security T30). */
  viaWebhook?: boolean;
}

interface Subscriber {
  id: string;
  userId: number;
  /** The one task that it hears of; null for all of the user's. */
  taskId: number | null;
  events: string[];
}

/**
 * Writes a delivery for each active webhook that subscribes to an event. Called in the transaction of the change that
 * the event tells of: none is lost, and none tells of a change that did not happen. The payload is fixed here, as the
 * very text that every attempt signs and sends (decisions §8).
 */
export async function recordEvents(ctx: Context, recorded: readonly Event[]): Promise<void> {
  const events = recorded.filter(fansOut);
  if (events.length === 0) return;
  const userIds = [...new Set(events.map((event) => event.userId))];
  const taskIds = [...new Set(events.flatMap(({ taskId }) => taskId ?? []))];
  const subscribers = await queryRows<Subscriber>(
    ctx.db,
    sql`select id, user_id as "userId", task_id as "taskId", events from webhooks
      where user_id = any(${`{${userIds.join(',')}}`}::int[]) and status = 'active'
        and (task_id is null or task_id = any(${`{${taskIds.join(',')}}`}::int[]))`,
  );
  if (subscribers.length === 0) return;

  const at = ctx.now();
  const now = at.toISOString();
  const [wait = 0] = ctx.config.webhookRetryDelaysMs;
  const first = new Date(at.getTime() + wait).toISOString();
  const deliveries = events.flatMap((event) =>
    subscribers
      .filter((webhook) => hears(webhook, event))
      .map((webhook) => {
        const id = randomUUID();
        ctx.trace.mark(`delivery ${id}`, causeOf(event));
        return {
          id,
          webhook_id: webhook.id,
          event: event.kind,
          payload: JSON.stringify({
            event: event.kind,
            timestamp: now,
            webhookId: webhook.id,
            userId: event.userId,
            data: event.data,
          }),
        };
      }),
  );
  if (deliveries.length === 0) return;
  await ctx.db.execute(sql`
    insert into deliveries (id, webhook_id, event, payload, request_id, next_attempt_at, queued_at, created_at)
    select id, webhook_id, event, payload, ${ctx.requestId ?? randomUUID()}::text, ${first}::timestamptz,
      ${wait === 0 ? now : null}::timestamptz, ${now}::timestamptz
    from jsonb_to_recordset(${recordset(deliveries)}::jsonb) as d(id uuid, webhook_id uuid, event text, payload text)`);
  afterCommit(ctx, () => ctx.worker.wakeDeliveries());
}

/**
 * To the letter: the `execution.*` events still tell who asked for them what became of the run. A chain of webhooks
 * that goes round through those is held by the owner's quota of executions.
 */
const fansOut = ({ kind, viaWebhook }: Event) => !(viaWebhook && kind.startsWith('task.'));

/** Executions are stored together, whichever span of theirs is the active one. */
function causeOf({ data }: Event): string | undefined {
  const { id } = (data.execution ?? {}) as { id?: number };
  return id === undefined ? undefined : `execution ${id}`;
}

const hears = ({ userId, taskId, events }: Subscriber, event: Event) =>
  userId === event.userId && (taskId === null || taskId === event.taskId) && events.includes(event.kind);
