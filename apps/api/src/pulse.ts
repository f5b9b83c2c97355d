/** A loop that is late by more than this hangs: the longest that the database may keep it waiting is shorter. */
const ALIVE_MS = 15_000;

/** Tells whether a loop goes round. */
export interface Pulse {
  /** Another round, or a step of a long one, has begun. */
  beat(): void;
  /** Whether that was lately; false before the first one. */
  isAlive(): boolean;
}

export function createPulse(aliveMs = ALIVE_MS): Pulse {
  let beatAt = Number.NEGATIVE_INFINITY;
  return {
    beat() {
      beatAt = performance.now();
    },
    isAlive: () => performance.now() - beatAt <= aliveMs,
  };
}
