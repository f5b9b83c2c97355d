import { randomBytes, randomUUID } from 'node:crypto';
import { compileValidator } from '@carillon/contract';
import { EVENT_KINDS, type EventKind, eventPayload } from '@carillon/contract/webhooks/events';
import { deliveries, endpoints } from '@carillon/db';
import { eq } from 'drizzle-orm';
import type { Context } from '../../src/context.ts';
import type { Person } from './people.ts';

export interface RecordedEvent {
  event: EventKind;
  timestamp: string;
  // biome-ignore lint/suspicious/noExplicitAny: a payload, compared as a whole
  data: any;
}

/** Subscribes a webhook. The returned function removes and returns the events since its last call. */
export async function captureEvents(
  { db, now }: Context,
  { id: userId }: Person,
  events: readonly EventKind[] = EVENT_KINDS,
): Promise<() => Promise<RecordedEvent[]>> {
  const id = randomUUID();
  const secretLookup = randomBytes(32).toString('hex');
  const url = 'https://hooks.example.com/';
  const at = { createdAt: now(), updatedAt: now() };
  await db.insert(endpoints).values({ id, userId, url, secretEncrypted: '', secretLookup, events: [...events], ...at });
  return async () => {
    const found = await db
      .delete(deliveries)
      .where(eq(deliveries.webhookId, id))
      .returning({ event: deliveries.event, payload: deliveries.payload });
    return found.map(({ event, payload }) => {
      const parsed = JSON.parse(payload);
      const checked = compileValidator(eventPayload(event as EventKind))(parsed);
      if (!checked.ok) throw new Error(`${payload} does not match the contract: ${JSON.stringify(checked.details)}`);
      if (parsed.webhookId !== id || parsed.userId !== userId)
        throw new Error(`${payload} belongs to another webhook or user.`);
      return parsed;
    });
  };
}
