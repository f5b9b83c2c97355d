import { setImmediate, setTimeout } from 'node:timers/promises';

/** The clocks and the waiting of the scheduler; tests pass one of their own. */
export interface Timer {
  /** Wall clock, in milliseconds. */
  now(): number;
  /** Monotonic clock, in milliseconds. */
  elapsed(): number;
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  nextTurn(signal: AbortSignal): Promise<void>;
}

export const systemTimer: Timer = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  sleep: (ms, signal) => setTimeout(ms, undefined, { signal }),
  nextTurn: (signal) => setImmediate(undefined, { signal }),
};
