import type { Logger } from 'pino';

interface Intervals {
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

/** Longer than a statement may wait for the database. */
const MAX_SILENCE_MS = 15_000;

interface Heartbeat {
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

/** A call during a run causes one more run after it. */
export function singleFlight(work: () => Promise<void>, onError: (error: unknown) => void): () => Promise<void> {
  let running: Promise<void> | null = null;
  let isRequested = false;

  return () => {
    isRequested = true;
    running ??= (async () => {
      try {
        while (isRequested) {
          isRequested = false;
          await work();
        }
      } catch (error) {
        onError(error);
      } finally {
        running = null;
      }
    })();
    return running;
  };
}

/** Items that arrive while a batch runs form the next one. */
export function createBatcher<T>(work: (items: T[]) => Promise<void>, maxBatch: number): (item: T) => Promise<void> {
  let pending: { item: T; resolve: () => void; reject: (error: unknown) => void }[] = [];
  let isRunning = false;

  async function run() {
    isRunning = true;
    // Items of one turn of the event loop share a batch.
    await new Promise((resolve) => setImmediate(resolve));
    while (pending.length > 0) {
      const batch = pending.slice(0, maxBatch);
      pending = pending.slice(maxBatch);
      try {
        await work(batch.map(({ item }) => item));
        for (const { resolve } of batch) resolve();
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pending.push({ item, resolve, reject });
      if (!isRunning) void run();
    });
}
