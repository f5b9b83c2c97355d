import { randomBytes, randomUUID } from 'node:crypto';
import { compileValidator } from '@carillon/contract';
import { EVENT_KINDS, type EventKind, eventPayload } from '@carillon/contract/webhooks/events';
import { deliveries, webhooks } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import type { Person } from './people.ts';

export interface RecordedEvent {
  event: EventKind;
  timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: a payload, compared as a whole
  data: any;
}

/** Subscribes a webhook; the returned function takes the deliveries that were recorded since its last call. */
export async function captureEvents(
  { db, now }: Context,
  { id: userId }: Person,
  events: readonly EventKind[] = EVENT_KINDS,
): Promise<() => Promise<RecordedEvent[]>> {
  const id = randomUUID();
  const secretLookup = randomBytes(32).toString('hex');
  const url = 'https://hooks.example.com/';
  const at = { createdAt: now(), updatedAt: now() };
  await db.insert(webhooks).values({ id, userId, url, secretSealed: '', secretLookup, events: [...events], ...at });
  return async () => {
    const written = await db
      .delete(deliveries)
      .where(eq(deliveries.webhookId, id))
      .returning({ event: deliveries.event, payload: deliveries.payload });
    return written.map(({ event, payload }) => {
      const parsed = JSON.parse(payload);
      const checked = compileValidator(eventPayload(event as EventKind))(parsed);
      if (!checked.ok) throw new Error(`${payload} is not as the contract says: ${JSON.stringify(checked.details)}`);
      if (parsed.webhookId !== id || parsed.userId !== userId) throw new Error(`${payload} is somebody else's.`);
      return parsed;
    });
  };
}
