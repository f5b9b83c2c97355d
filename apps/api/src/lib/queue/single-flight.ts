/** A call during a run causes one more run after it. */
export function singleFlight(work: () => Promise<void>, onError: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | null = null;
  let isRequested = false;

  return () => {
    isRequested = true;
    running ??= (async () => {
      try {
        while (isRequested) {
          isRequested = false;
          await work();
        }
      } catch (error) {
        onError(error);
      } finally {
        running = null;
      }
    })();
    return running;
  };
}
