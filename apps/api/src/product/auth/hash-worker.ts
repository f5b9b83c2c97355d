import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Options } from '@node-rs/argon2';
import pLimit from 'p-limit';
import { AppError } from '../../errors.ts';

/** Hashes on threads of low priority, because it fills a core. Throws `unavailable` if too many hashes are waiting. */
export const hashInWorker = (password: string, parameters: Options): Promise<string> =>
  limitHashing(() => run({ password, parameters }));

/** Rejects if `passwordHash` is not a hash; throws like `hashInWorker`. */
export const verifyInWorker = (passwordHash: string, password: string): Promise<boolean> =>
  limitHashing(() => run({ password, passwordHash }));

/** Queues work beyond `concurrency`; throws `unavailable` beyond `maxWaiting`. */
export function limitConcurrency({ concurrency, maxWaiting }: { concurrency: number; maxWaiting: number }) {
  const limit = pLimit(concurrency);
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (limit.activeCount >= concurrency && limit.pendingCount >= maxWaiting) {
      throw new AppError('unavailable', 'Too many sign-ins at the moment. Try again in a few seconds.');
    }
    return limit(work);
  };
}

/** More than the cores finish no sooner, and each takes 19 MiB. A thousand waiting are some 5 s of work. */
const limitHashing = limitConcurrency({ concurrency: Math.min(availableParallelism(), 4), maxWaiting: 1000 });

const idle: Worker[] = [];

async function run(job: { password: string } & ({ parameters: Options } | { passwordHash: string })) {
  const thread = idle.pop() ?? startThread();
  thread.ref();
  thread.postMessage(job);
  // A job that throws ends its thread, which rejects here.
  const [answer] = await once(thread, 'message');
  // An idle thread must not keep the process running.
  thread.unref();
  idle.push(thread);
  return answer;
}

// A small heap is enough, because argon2 allocates outside of V8.
const startThread = () =>
  new Worker(new URL('./hash-thread.js', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
  });
