import { createProvider } from '../queues/provider.ts';

export interface DelayedJob {
  prompt: string;
  due: Date;
}

/** COUNT jobs INTERVAL_MS apart, the first one due in LEAD_MS. */
export function buildDelayedJobs(): DelayedJob[] {
  const { COUNT = '0', INTERVAL_MS = '0', LEAD_MS = '0' } = process.env;
  const first = Date.now() + Number(LEAD_MS);
  return Array.from({ length: Number(COUNT) }, (_, n) => {
    const due = new Date(first + n * Number(INTERVAL_MS));
    // The benchmark reads the instant from the prompt that the AI server receives.
    return { due, prompt: `due at ${due.getTime()}` };
  });
}

export const provider = createProvider(20);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
