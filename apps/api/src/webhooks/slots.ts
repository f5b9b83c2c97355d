export interface Slots {
  /** How many deliveries may begin now; `spare` when only in the place of such as linger. */
  free(): { limit: number; spare: boolean };
  /** Takes a place, and returns what gives it back. */
  take(): () => void;
}

/**
 * The places of a process for what is under way. After `lingersAfterMs` a delivery only waits for its answer, which
 * costs next to nothing: it lingers, and its place may be given to another one besides. `onFree` is told of each place
 * that is given back or begins to linger.
 */
export function createSlots(count: number, lingersAfterMs: number, onFree: () => void): Slots {
  let held = 0;
  let lingering = 0;
  return {
    free: () =>
      held < count ? { limit: count - held, spare: false } : { limit: count - held + lingering, spare: true },
    take() {
      held += 1;
      let lingers = false;
      const timer = setTimeout(() => {
        lingers = true;
        lingering += 1;
        onFree();
      }, lingersAfterMs);
      return () => {
        clearTimeout(timer);
        held -= 1;
        if (lingers) lingering -= 1;
        onFree();
      };
    },
  };
}
