import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Timer } from '@carillon/scheduler/timer';
import { pino } from 'pino';
import type { Test } from 'tap';

type Handler = (request: IncomingMessage, response: ServerResponse, call: number) => void;

/** An API that has only the trigger: `handler` answers it; `calls` has the instant of each call. */
export async function startApi(t: Test, handler: Handler) {
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
  if (nextDueAt !== null) response.setHeader('x-next-due-at', new Date(nextDueAt).toISOString());
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ success: true, processed: 0, failed: 0, duration: 1 }));
}

/** A logger that stores its messages. */
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

export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the condition was not met within 20 s');
    await sleep(2);
  }
}

/** A clock that moves only while something waits for it: by the time slept, or by 1 ms for a turn. */
export function fakeTimer(startsAt = 0) {
  let time = startsAt;
  const advance = async (ms: number, signal: AbortSignal) => {
    time += ms;
    // Lets the event loop turn, and ends a loop that only waits.
    await sleep(0, undefined, { signal });
  };
  const timer: Timer = {
    now: () => time,
    elapsed: () => time,
    sleep: advance,
    nextTurn: (signal) => advance(1, signal),
  };
  return timer;
}
