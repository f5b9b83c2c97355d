import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { Texts } from '@carillon/texts';

const TIMEOUT_MS = 30_000;

export interface Receiver<Message> {
  url: string;
  /** In the order of their arrival. */
  received: Message[];
  /** Waits for the first message that `isWanted` accepts. Throws after 30 s. */
  waitFor<Found extends Message>(name: string, isWanted: (message: Message) => message is Found): Promise<Found>;
  close(): Promise<void>;
}

/** A server on loopback that stores the JSON that it receives. */
export async function startReceiver<Message>(demo: Texts['demo']): Promise<Receiver<Message>> {
  const received: Message[] = [];
  const arrivals = new EventEmitter();
  const server = createServer(async (request, response) => {
    received.push((await json(request)) as Message);
    response.end();
    arrivals.emit('message');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    async waitFor(name, isWanted) {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      for (;;) {
        const found = received.find(isWanted);
        if (found) return found;
        await once(arrivals, 'message', { signal }).catch(() => {
          throw new Error(demo.notArrived(name, TIMEOUT_MS / 1000));
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
