/** Items that arrive while a batch runs form the next one. */
export function createBatcher<T>(work: (items: T[]) => Promise<void>, maxBatch: number): (item: T) => Promise<void> {
  let pending: { item: T; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let isRunning = false;

  async function run() {
    isRunning = true;
    // Items of one turn of the event loop share a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (pending.length > 0) {
      const batch = pending.slice(0, maxBatch);
      pending = pending.slice(maxBatch);
      try {
        await work(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, resolve, reject });
      if (!isRunning) void run();
    });
}
