import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A request as it came over the wire. */
export interface ReceivedDelivery {
  path: string;
  headers: IncomingHttpHeaders;
  /** Names and values alternating, as they were written. */
  rawHeaders: string[];
  body: Buffer;
  /** Of `performance.now()`. */
  at: number;
}

/** What to answer: a status, a status after a while, or nothing for as long as the connection lasts. */
export type Reply = number | { status: number; delayMs?: number; headers?: Record<string, string> } | 'hang' | 'cut';

export interface Receiver {
  /** Where it listens, without a path. */
  url: string;
  /** What came, oldest first. */
  received: ReceivedDelivery[];
  /** What to answer from now on; 200 unless told. */
  answer(reply: Reply | ((delivery: ReceivedDelivery) => Reply)): void;
  /** Requests that wait for their answer at this moment, and the most that ever did at once. */
  readonly open: number;
  readonly mostOpen: number;
  close(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** A real HTTP server that keeps the bytes of what it is sent; it goes away at the end of `t`. */
export async function startReceiver(t?: Test): Promise<Receiver> {
  const received: ReceivedDelivery[] = [];
  const sockets = new Set<Socket>();
  let reply: Parameters<Receiver['answer']>[0] = 200;
  let open = 0;
  let mostOpen = 0;

  async function take(request: IncomingMessage, response: ServerResponse) {
    const at = performance.now();
    open += 1;
    mostOpen = Math.max(mostOpen, open);
    response.once('close', () => {
      open -= 1;
    });
    const { url: path = '', headers, rawHeaders } = request;
    const delivery = { path, headers, rawHeaders, body: await buffer(request), at };
    received.push(delivery);
    const answer = typeof reply === 'function' ? reply(delivery) : reply;
    if (answer === 'hang') return;
    if (answer === 'cut') return void request.socket.destroy();
    const { status, delayMs = 0, headers: extra = {} } = typeof answer === 'number' ? { status: answer } : answer;
    const end = () => response.writeHead(status, extra).end();
    if (delayMs > 0) setTimeout(end, delayMs);
    else end();
  }

  const server = createServer((request, response) => {
    take(request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1', 4096);
  await once(server, 'listening');
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  t?.teardown(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer: (given) => {
      reply = given;
    },
    get open() {
      return open;
    },
    get mostOpen() {
      return mostOpen;
    },
    close,
  };
}
