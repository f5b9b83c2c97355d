/**
 * Makes of `work` a function that answers with its latest result while that is no older than `ms`; calls that come
 * while it is under way share it, and with an `ms` of 0 that is all that is shared. A failure is told to those who waited
 * for it, and not kept.
 */
export function cached<T>(ms: number, work: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | null = null;
  let endedAt = Number.POSITIVE_INFINITY;

  return () => {
    if (latest && performance.now() - endedAt < ms) return latest;
    endedAt = Number.POSITIVE_INFINITY;
    const current = work();
    latest = current;
    current.then(
      () => {
        endedAt = performance.now();
      },
      () => {
        latest = null;
      },
    );
    return current;
  };
}
