export interface BatcherOptions {
  maxBatch: number;
  /** Batches that run at the same time. Default: 1. */
  lanes?: number;
}

/** Items that arrive while all lanes are busy form the next batch. `work` returns the results in the order of the items. */
export function createBatcher<T, R = void>(
  work: (items: T[]) => Promise<[R] extends [void] ? void : R[]>,
  { maxBatch, lanes = 1 }: BatcherOptions,
): (item: T) => Promise<R> {
  let pending: { item: T; resolve: (result: R) => void; reject: (error: unknown) => void }[] = [];
  let running = 0;

  async function run() {
    running += 1;
    // Items of one turn of the event loop share a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (pending.length > 0) {
      const batch = pending.slice(0, maxBatch);
      pending = pending.slice(maxBatch);
      try {
        const results = await work(batch.map(({ item }) => item));
        for (const [n, { resolve }] of batch.entries()) resolve((results as R[] | undefined)?.[n] as R);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running -= 1;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, resolve, reject });
      if (running < lanes) void run();
    });
}
