import { once } from 'node:events';
import type postgres from 'postgres';

/** What the driver calls when the server has answered: the first time with the stream. */
interface Watched {
  resolve(answer: { count: number | null }): void;
  reject(error: Error): void;
}

/**
 * Feeds `pieces` to a `COPY … FROM STDIN` and tells how many rows it made. Rejects with the server's error.
 *
 * The driver's stream does not tell how the command ended: its end comes before the server has checked the rows, and
 * when they are refused then it never comes. The query is told, so that is where this listens.
 */
export async function copyIn(
  query: postgres.PendingQuery<postgres.Row[]>,
  pieces: AsyncIterable<Uint8Array>,
): Promise<number> {
  const outcome = outcomeOf(query as unknown as Watched);
  // Looked at below; until then it shall not end the process.
  outcome.catch(() => {});
  const stream = await query.writable();
  stream.on('error', () => {});
  try {
    for await (const piece of pieces) {
      // The driver destroys it when the server has refused what came so far, or is gone.
      if (stream.destroyed) break;
      if (!stream.write(piece)) await once(stream, 'drain');
    }
  } catch (error) {
    if (!stream.destroyed) stream.destroy(error as Error);
    // What the server says to it repeats the reason.
    await outcome.catch(() => {});
    throw error;
  }
  if (!stream.destroyed) stream.end();
  return outcome;
}

function outcomeOf(query: Watched): Promise<number> {
  const { resolve, reject } = query;
  let begun = false;
  return new Promise((done, fail) => {
    query.resolve = (answer) => {
      if (begun) done(answer.count ?? 0);
      begun = true;
      resolve.call(query, answer);
    };
    query.reject = (error) => {
      fail(error);
      reject.call(query, error);
    };
  });
}
