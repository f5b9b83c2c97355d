/** A loop that is late by more than this hangs: the longest that the database may keep it waiting is shorter. */
const ALIVE_MS = 15_000;

/** Tells whether a loop goes round. */
export interface Heartbeat {
  /** Another round, or a step of a long one, has begun. */
  beat(): void;
  /** Whether that was lately; false before the first one. */
  isAlive(): boolean;
}

export function createHeartbeat(aliveMs = ALIVE_MS): Heartbeat {
  let beatAt = Number.NEGATIVE_INFINITY;
  return {
    beat() {
      beatAt = performance.now();
    },
    isAlive: () => performance.now() - beatAt <= aliveMs,
  };
}
