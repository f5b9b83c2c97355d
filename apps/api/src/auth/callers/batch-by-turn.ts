interface Waiting<T, R> {
  item: T;
  resolve: (result: R) => void;
  reject: (error: unknown) => void;
}

/**
 * Passes the items of one turn of the event loop to `work` together, up to `maxBatch`; it returns their results in the same
 * order. No item waits for an earlier batch, which may have to wait for a database that does not answer.
 */
export function batchByTurn<T, R>(work: (items: T[]) => Promise<R[]>, maxBatch: number): (item: T) => Promise<R> {
  let waiting: Waiting<T, R>[] = [];

  async function run(batch: readonly Waiting<T, R>[]) {
    try {
      const results = await work(batch.map(({ item }) => item));
      for (const [n, { resolve }] of batch.entries()) resolve(results[n] as R);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  function runAll() {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += maxBatch) void run(all.slice(at, at + maxBatch));
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (waiting.length === 1) setImmediate(runAll);
    });
}
