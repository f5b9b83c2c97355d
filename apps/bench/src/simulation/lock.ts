import type { Clock, Step } from './clock.ts';

export interface Lock {
  acquire: Step;
  release(): void;
  /** Until now, in milliseconds; of several that wait at once, the sum. */
  readonly waitedMs: number;
  /** Of all holders, divided by how many there may be. */
  readonly heldMs: number;
}

/** `most` holders at a time (default: 1), in the order of arrival. */
export function createLock(clock: Clock, most = 1): Lock {
  const waiting: { since: number; resume(): void }[] = [];
  let holders = 0;
  let countedAt = 0;
  let waitedMs = 0;
  let heldMs = 0;

  function change(by: 1 | -1) {
    heldMs += ((clock.now - countedAt) * holders) / most;
    countedAt = clock.now;
    holders += by;
  }

  function grant(resume: () => void) {
    change(1);
    clock.wait(0)(resume);
  }

  return {
    acquire(resume) {
      if (holders < most) grant(resume);
      else waiting.push({ since: clock.now, resume });
    },
    release() {
      if (holders === 0) throw new Error('The lock is not held.');
      change(-1);
      const next = waiting.shift();
      if (!next) return;
      waitedMs += clock.now - next.since;
      grant(next.resume);
    },
    get waitedMs() {
      return waitedMs + waiting.reduce((sum, { since }) => sum + clock.now - since, 0);
    },
    get heldMs() {
      return heldMs + ((clock.now - countedAt) * holders) / most;
    },
  };
}
