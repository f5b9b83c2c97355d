import { setTimeout as delay } from 'node:timers/promises';
import { openStream } from '../../apps/api/test/support/live-stream.ts';

interface ReaderOptions {
  urls: readonly string[];
  token: string;
  /** Ends the reading once an event with this id was read. */
  getLastId: () => number | null;
  /** The longest time until it closes a connection itself. Default: 800. */
  maxConnectedMs?: number;
}

export interface Reading {
  ids: number[];
  connections: number;
  /** Answers other than 200: 429 while the stream before is not closed yet, -1 while a process is down. */
  refusals: number;
  resets: number;
}

/** Reads all events of a user from the first on, and connects again at random moments, to a random process. */
export async function readWithInterruptions(options: ReaderOptions): Promise<Reading> {
  const { urls, token, getLastId, maxConnectedMs = 800 } = options;
  const reading: Reading = { ids: [], connections: 0, refusals: 0, resets: 0 };
  const headers = { authorization: `Bearer ${token}` };
  for (;;) {
    const url = urls[Math.floor(Math.random() * urls.length)] as string;
    const lastEventId = String(reading.ids.at(-1) ?? 0);
    const stream = await openStream(url, { headers, lastEventId }).catch(() => null);
    if (stream?.status !== 200) {
      reading.refusals += 1;
      await delay(50);
      continue;
    }
    reading.connections += 1;
    const closeAt = performance.now() + Math.random() * maxConnectedMs;
    while (stream.isOpen() && performance.now() < closeAt && !isLast(stream.lastId())) await delay(20);
    stream.close();
    const ids = stream.events().map(({ id }) => Number(id));
    reading.ids.push(...ids);
    reading.resets += stream.frames.filter(({ event }) => event === 'reset').length;
    if (isLast(String(reading.ids.at(-1) ?? 0))) return reading;
  }

  function isLast(id: string | undefined): boolean {
    const lastId = getLastId();
    return lastId !== null && Number(id) >= lastId;
  }
}
