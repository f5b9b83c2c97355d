import type { Clock, Step } from './clock.ts';

export interface Lock {
  acquire: Step;
  release(): void;
  /** Until now, in milliseconds; of several that wait at once, the sum. */
  readonly waitedMs: number;
  readonly heldMs: number;
}

/** One holder at a time, in the order of arrival. */
export function createLock(clock: Clock): Lock {
  const waiting: { since: number; resume(): void }[] = [];
  let heldSince: number | null = null;
  let waitedMs = 0;
  let heldMs = 0;

  function grant(resume: () => void) {
    heldSince = clock.now;
    clock.wait(0)(resume);
  }

  return {
    acquire(resume) {
      if (heldSince === null) grant(resume);
      else waiting.push({ since: clock.now, resume });
    },
    release() {
      if (heldSince === null) throw new Error('The lock is not held.');
      heldMs += clock.now - heldSince;
      heldSince = null;
      const next = waiting.shift();
      if (!next) return;
      waitedMs += clock.now - next.since;
      grant(next.resume);
    },
    get waitedMs() {
      return waitedMs + waiting.reduce((sum, { since }) => sum + clock.now - since, 0);
    },
    get heldMs() {
      return heldMs + (heldSince === null ? 0 : clock.now - heldSince);
    },
  };
}
