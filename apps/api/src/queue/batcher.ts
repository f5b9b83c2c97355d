/**
 * Makes of `work`, which takes many items at once, a function that takes one: what comes in while a batch is under way
 * goes together into the next one. Each call settles with the batch that its item was in.
 */
export function createBatcher<T>(work: (items: T[]) => Promise<void>, maxBatch: number): (item: T) => Promise<void> {
  let waiting: { item: T; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let underWay = false;

  async function drain() {
    underWay = true;
    // What ended in the same turn of the event loop shares a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxBatch);
      waiting = waiting.slice(maxBatch);
      try {
        await work(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    underWay = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (!underWay) void drain();
    });
}
