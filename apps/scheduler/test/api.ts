import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import type { Test } from 'tap';

type Handler = (request: IncomingMessage, response: ServerResponse, call: number) => void;

/** An API of which only the trigger exists: `handler` answers, `calls` are the instants at which it was called. */
export async function api(t: Test, handler: Handler) {
  const calls: number[] = [];
  const server = createServer((request, response) => {
    handler(request, response, calls.push(Date.now()));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls };
}

export function answer(response: ServerResponse, nextDueAt: number | null): void {
  const due = nextDueAt === null ? null : new Date(nextDueAt).toISOString();
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ success: true, processed: 0, failed: 0, duration: 1, nextDueAt: due }));
}

/** A log whose messages can be looked at. */
export function memoryLog() {
  const messages: string[] = [];
  const stream = new Writable({
    write(line, _encoding, done) {
      messages.push(JSON.parse(line).msg);
      done();
    },
  });
  return { log: pino({}, stream), messages };
}

export async function until(what: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!what()) {
    if (Date.now() > deadline) throw new Error('it did not come to that within 20 s');
    await sleep(2);
  }
}
