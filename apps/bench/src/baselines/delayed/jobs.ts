import { createProvider } from '../queues/provider.ts';

/** A job that is due at an instant of its own. */
export interface DelayedJob {
  prompt: string;
  due: Date;
}

/** COUNT jobs, APART_MS after each other, the first of them AHEAD_MS from now on. */
export function buildDelayedJobs(): DelayedJob[] {
  const { COUNT = '0', APART_MS = '0', AHEAD_MS = '0' } = process.env;
  const first = Date.now() + Number(AHEAD_MS);
  return Array.from({ length: Number(COUNT) }, (_, n) => {
    const due = new Date(first + n * Number(APART_MS));
    // The instant goes with the prompt, so the provider alone can tell how late the job has reached it.
    return { due, prompt: `due at ${due.getTime()}` };
  });
}

/** What each job does: nothing but the AI call. */
export const provider = createProvider(20);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
