import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { EventKind, WebhookEvent } from '@carillon/client/source';

const TIMEOUT_MS = 30_000;

export interface WebhookReceiver {
  url: string;
  /** In the order of their arrival. */
  received: WebhookEvent[];
  /** Waits for the first event of the kind. Throws after 30 s. */
  waitFor<Kind extends EventKind>(kind: Kind): Promise<Extract<WebhookEvent, { event: Kind }>>;
  close(): Promise<void>;
}

/** A server on loopback that stores what webhooks send to it. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: WebhookEvent[] = [];
  const arrivals = new EventEmitter();
  const server = createServer(async (request, response) => {
    received.push((await json(request)) as WebhookEvent);
    response.end();
    arrivals.emit('event');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async waitFor<Kind extends EventKind>(kind: Kind) {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      for (;;) {
        const event = received.find((one) => one.event === kind);
        if (event) return event as Extract<WebhookEvent, { event: Kind }>;
        await once(arrivals, 'event', { signal }).catch(() => {
          throw new Error(`The webhook did not get ${kind} within ${TIMEOUT_MS / 1000} seconds.`);
        });
      }
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
