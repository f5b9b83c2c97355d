interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/** Writes up to `size` items together: those of one turn of the event loop, or those that arrived during the last write. */
export function createBatcher<Item, Result>(
  size: number,
  write: (items: Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Waiting<Item, Result>[] = [];
  let isWriting = false;

  async function writeWaiting() {
    while (waiting.length > 0) {
      const batch = waiting.splice(0, size);
      try {
        const results = await write(batch.map(({ item }) => item));
        for (const [n, { resolve }] of batch.entries()) resolve(results[n] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isWriting = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isWriting) return;
      isWriting = true;
      setImmediate(writeWaiting);
    });
}
