import { AppError } from '../errors.ts';

/**
 * Returns a function that runs work as it comes, `atOnce` at a time and the rest in turn. When `waitingAtMost` are
 * waiting it refuses as `unavailable`, because whoever joined then would wait for longer than anyone does.
 */
export function limitConcurrency({ atOnce, waitingAtMost }: { atOnce: number; waitingAtMost: number }) {
  const waiting: (() => void)[] = [];
  let running = 0;

  return async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (running < atOnce) {
      running += 1;
    } else {
      if (waiting.length >= waitingAtMost) {
        throw new AppError('unavailable', 'Too many people are signing in at this moment. Please try again shortly.');
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      // The place is handed on rather than given back, so that nobody who arrives now can take it first.
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  };
}
