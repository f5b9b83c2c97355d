import { setTimeout as delay } from 'node:timers/promises';
import { openStream } from '../support/live-stream.ts';

interface ReaderOptions {
  urls: readonly string[];
  token: string;
  /** Ends the reading once an event with this id was read. */
  getLastId: () => number | null;
}

export interface Reading {
  ids: number[];
  connections: number;
  /** Answers other than 200: 429 while the stream before is not closed yet, -1 while a process is down. */
  refusals: number;
  resets: number;
}

/** Reads all events of a user from the first on, and connects again at random moments, to a random process. */
export async function readWithInterruptions({ urls, token, getLastId }: ReaderOptions): Promise<Reading> {
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
    await Promise.race([stream.ended, delay(Math.random() * 800)]);
    stream.close();
    const ids = stream.events().map(({ id }) => Number(id));
    reading.ids.push(...ids);
    reading.resets += stream.frames.filter(({ event }) => event === 'reset').length;
    const lastId = getLastId();
    if (lastId !== null && (reading.ids.at(-1) ?? 0) >= lastId) return reading;
  }
}
