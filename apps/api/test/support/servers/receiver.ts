import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

export interface ReceivedDelivery {
  path: string;
  headers: IncomingHttpHeaders;
  /** Names and values alternating, in their original case. */
  rawHeaders: string[];
  body: Buffer;
  /** By `performance.now()`. */
  at: number;
}

/** A status, a delayed status, no answer, or a cut connection. */
export type Reply = number | { status: number; delayMs?: number; headers?: Record<string, string> } | 'hang' | 'cut';

export interface Receiver {
  url: string;
  /** Oldest first. */
  received: ReceivedDelivery[];
  /** Sets the response. Default: 200. */
  answer(reply: Reply | ((delivery: ReceivedDelivery) => Reply)): void;
  /** The number of pending requests. */
  readonly open: number;
  readonly mostOpen: number;
  close(): Promise<void>;
}

interface Test {
  teardown(work: () => Promise<void>): unknown;
}

/** Starts a webhook receiver that records its requests. Stops at the end of `t`. */
export async function startReceiver(t?: Test): Promise<Receiver> {
  const received: ReceivedDelivery[] = [];
  const sockets = new Set<Socket>();
  let reply: Parameters<Receiver['answer']>[0] = 200;
  let open = 0;
  let mostOpen = 0;

  async function handle(request: IncomingMessage, response: ServerResponse) {
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
    handle(request, response).catch(() => response.destroy());
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
