export interface Slots {
  /** `onlyIdleWebhooks`: the regular slots are taken, and these are the second use of slow ones. */
  available(): { limit: number; onlyIdleWebhooks: boolean };
  /** Takes a slot and returns the function that frees it. */
  take(): () => void;
}

/** After `slowAfterMs` a delivery only waits for its response: its slot may be used a second time. */
export function createSlots(count: number, slowAfterMs: number, onChange: () => void): Slots {
  let taken = 0;
  let slow = 0;
  return {
    available() {
      const free = count - taken;
      return free > 0 ? { limit: free, onlyIdleWebhooks: false } : { limit: free + slow, onlyIdleWebhooks: true };
    },
    take() {
      taken += 1;
      let isSlow = false;
      const timer = setTimeout(() => {
        isSlow = true;
        slow += 1;
        onChange();
      }, slowAfterMs);
      return () => {
        clearTimeout(timer);
        taken -= 1;
        if (isSlow) slow -= 1;
        onChange();
      };
    },
  };
}
