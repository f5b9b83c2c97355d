import { once } from 'node:events';
import type postgres from 'postgres';

/** The driver calls `resolve` with the stream first, and again when the command has ended. */
interface QueryCallbacks {
  resolve(answer: { count: number | null }): void;
  reject(error: Error): void;
}

/** Wraps the query's callbacks: the driver's stream ends before the server has checked the rows, or never on an error. */
export async function copyIn(
  query: postgres.PendingQuery<postgres.Row[]>,
  chunks: AsyncIterable<Uint8Array>,
): Promise<number> {
  const outcome = watchOutcome(query as unknown as QueryCallbacks);
  outcome.catch(() => {});
  const stream = await query.writable();
  stream.on('error', () => {});
  try {
    for await (const chunk of chunks) {
      // The driver destroys the stream when the server refuses the rows or the connection breaks.
      if (stream.destroyed) break;
      if (!stream.write(chunk)) await once(stream, 'drain');
    }
  } catch (error) {
    if (!stream.destroyed) stream.destroy(error as Error);
    await outcome.catch(() => {});
    throw error;
  }
  if (!stream.destroyed) stream.end();
  return outcome;
}

function watchOutcome(query: QueryCallbacks): Promise<number> {
  const { resolve, reject } = query;
  let hasStarted = false;
  return new Promise((done, fail) => {
    query.resolve = (answer) => {
      if (hasStarted) done(answer.count ?? 0);
      hasStarted = true;
      resolve.call(query, answer);
    };
    query.reject = (error) => {
      fail(error);
      reject.call(query, error);
    };
  });
}
