import { setImmediate, setTimeout } from 'node:timers/promises';

/** Times in milliseconds. Tests pass a timer of their own. */
export interface Timer {
  /** Wall clock. */
  now(): number;
  /** Monotonic clock. */
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
