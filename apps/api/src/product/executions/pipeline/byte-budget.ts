export interface ByteReservation extends Disposable {
  shrinkTo(bytes: number): void;
}

export interface ByteBudget {
  /** Resolves once `bytes` are free. More than the budget reserves all of it. */
  reserve(bytes: number, signal: AbortSignal): Promise<ByteReservation>;
}

/** Own code: weighted semaphores such as async-mutex cannot withdraw a waiter, so an aborted one would block others. */
export function createByteBudget(capacity: number): ByteBudget {
  let free = capacity;
  const waiting = new Set<{ bytes: number; grant: () => void }>();

  function grantNext() {
    for (const waiter of waiting) {
      // First come, first served: small requests could overtake a large one for ever.
      if (waiter.bytes > free) return;
      waiting.delete(waiter);
      free -= waiter.bytes;
      waiter.grant();
    }
  }

  function createReservation(bytes: number): ByteReservation {
    let held = bytes;
    const shrinkTo = (to: number) => {
      const rest = Math.min(held, to);
      free += held - rest;
      held = rest;
      grantNext();
    };
    return { shrinkTo, [Symbol.dispose]: () => shrinkTo(0) };
  }

  return {
    async reserve(bytes, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const waiter = { bytes: Math.min(bytes, capacity), grant: resolve };
      const withdraw = () => {
        if (!waiting.delete(waiter)) return;
        reject(signal.reason);
        grantNext();
      };
      signal.addEventListener('abort', withdraw);
      waiting.add(waiter);
      grantNext();
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', withdraw);
      }
      return createReservation(waiter.bytes);
    },
  };
}
