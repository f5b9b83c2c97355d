/** Default bound between two beats. Longer than the longest that one statement may wait for the database. */
const MAX_SILENCE_MS = 15_000;

export interface Heartbeat {
  /** Marks progress: a new round, or a step of a long one. */
  beat(): void;
  /** Whether the last beat is recent; false before the first one. */
  isAlive(): boolean;
}

/** Shows whether a loop makes progress. */
export function createHeartbeat(maxSilenceMs = MAX_SILENCE_MS): Heartbeat {
  let beatAt = Number.NEGATIVE_INFINITY;
  return {
    beat() {
      beatAt = performance.now();
    },
    isAlive: () => performance.now() - beatAt <= maxSilenceMs,
  };
}
