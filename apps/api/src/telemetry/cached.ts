/**
 * Returns `work` with its latest result cached for `ttlMs`. Calls during a run share that run; with a `ttlMs` of 0 nothing
 * else is shared. Failures are not cached.
 */
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
