/** Caches the latest result for `ttlMs`; failures are not cached. Concurrent calls share one run, also with a `ttlMs` of 0. */
export function cached<T>(ttlMs: number, work: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | null = null;
  let endedAt = Number.POSITIVE_INFINITY;

  return () => {
    if (latest && performance.now() - endedAt < ttlMs) return latest;
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
