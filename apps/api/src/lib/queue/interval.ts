import type { Logger } from 'pino';

export interface Intervals {
  /** Runs `work` now, and again `ms` after each end. Logs errors as "<name> failed". */
  every(ms: number, name: string, work: () => Promise<unknown>): void;
  stop(): Promise<void>;
}

export function createIntervals(log: Pick<Logger, 'error'>): Intervals {
  const intervals: { stop(): Promise<void> }[] = [];
  return {
    every(ms, name, work) {
      intervals.push(startInterval(ms, work, (error) => log.error({ err: error }, `${name} failed`)));
    },
    async stop() {
      await Promise.all(intervals.map((interval) => interval.stop()));
    },
  };
}

function startInterval(ms: number, work: () => Promise<unknown>, onError: (error: unknown) => void) {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let current: Promise<unknown> = Promise.resolve();

  const run = () => {
    current = work()
      .catch(onError)
      .then(() => {
        if (!isStopped) timer = setTimeout(run, ms);
      });
  };
  run();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await current;
    },
  };
}
