/** Longer than a statement may wait for the database. */
const MAX_SILENCE_MS = 15_000;

export interface Heartbeat {
  beat(): void;
  isAlive(): boolean;
}

export function createHeartbeat(maxSilenceMs = MAX_SILENCE_MS): Heartbeat {
  let beatAt = Number.NEGATIVE_INFINITY;
  return {
    beat() {
      beatAt = performance.now();
    },
    isAlive: () => performance.now() - beatAt <= maxSilenceMs,
  };
}
