/** Bytes that are held until the share is disposed of. */
export interface Share extends Disposable {
  /** Gives back what is beyond `bytes`. */
  shrinkTo(bytes: number): void;
}

export interface ByteBudget {
  /**
   * Resolves once `bytes` are free, those who asked before first; more than there are in all counts as all. Rejects with
   * the reason of `signal` when that is aborted before.
   */
  take(bytes: number, signal: AbortSignal): Promise<Share>;
}

/** A number of bytes that may be in memory at once, shared by whoever asks. */
export function createByteBudget(capacity: number): ByteBudget {
  let free = capacity;
  const waiting = new Set<{ bytes: number; grant: () => void }>();

  function serve() {
    for (const one of waiting) {
      // What would fit behind it waits too: else small ones could overtake a large one for ever.
      if (one.bytes > free) return;
      waiting.delete(one);
      free -= one.bytes;
      one.grant();
    }
  }

  function share(bytes: number): Share {
    let held = bytes;
    const shrinkTo = (to: number) => {
      const kept = Math.min(held, to);
      free += held - kept;
      held = kept;
      serve();
    };
    return { shrinkTo, [Symbol.dispose]: () => shrinkTo(0) };
  }

  return {
    async take(bytes, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const one = { bytes: Math.min(bytes, capacity), grant: resolve };
      const leave = () => {
        if (!waiting.delete(one)) return;
        reject(signal.reason);
        serve();
      };
      signal.addEventListener('abort', leave);
      waiting.add(one);
      serve();
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', leave);
      }
      return share(one.bytes);
    },
  };
}
