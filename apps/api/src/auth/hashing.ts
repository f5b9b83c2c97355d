import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Options } from '@node-rs/argon2';

/**
 * Hashes a password, as a PHC string. This and `verifyAside` run on threads of their own: a hash fills a core, and
 * unlike the threads of libuv these let the event loop go first, which everybody else waits for.
 */
export const hashInWorker = (password: string, parameters: Options): Promise<string> => run({ password, parameters });

/** Tells whether `password` is what was hashed. Rejects where `passwordHash` is no hash. */
export const verifyInWorker = (passwordHash: string, password: string): Promise<boolean> =>
  run({ password, passwordHash });

const idle: Worker[] = [];

/** Runs a job on a thread that has nothing to do, or else on a new one. */
async function run(job: { password: string } & ({ parameters: Options } | { passwordHash: string })) {
  const thread = idle.pop() ?? startThread();
  thread.ref();
  thread.postMessage(job);
  // A job that throws ends its thread, and rejects here.
  const [answer] = await once(thread, 'message');
  // Nothing to wait for when the process has done all else.
  thread.unref();
  idle.push(thread);
  return answer;
}

/** Small, as argon2's memory is none of V8's. */
const startThread = () =>
  new Worker(new URL('./hashing-thread.js', import.meta.url), {
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 2, maxOldGenerationSizeMb: 32 },
  });
