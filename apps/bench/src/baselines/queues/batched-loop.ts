import { randomUUID } from 'node:crypto';
import { openConnections } from '../connections.ts';
import { createProvider } from './provider.ts';

export interface BatchedStatements {
  enqueue: string;
  start: string;
  complete: string;
}

/** At a time: while one waits for the database, the others ask the AI. More and smaller ones cost the database more. */
const BATCHES = 2;
const ENQUEUE_SIZE = 500;

interface Started {
  id: number;
  prompt: string;
}

/** Runs all that is due with these statements, then ends the process. */
export async function runBatched({ enqueue, start, complete }: BatchedStatements): Promise<never> {
  const concurrency = Number(process.env.CONCURRENCY);
  const batchSize = Math.ceil(concurrency / BATCHES);
  const query = await openConnections(process.env.DATABASE_URL ?? '', BATCHES + 1);
  const provider = createProvider(concurrency);
  let isEnqueueing = true;
  let wake = Promise.withResolvers<void>();

  async function enqueueAll() {
    for (;;) {
      const now = new Date();
      const enqueued = await query(enqueue, [now.toISOString(), ENQUEUE_SIZE, now.toISOString().slice(0, 10)]);
      if (enqueued.length === 0) isEnqueueing = false;
      wake.resolve();
      wake = Promise.withResolvers();
      if (!isEnqueueing) return;
    }
  }

  async function runBatches() {
    for (;;) {
      const nextEnqueued = wake.promise;
      const isLast = !isEnqueueing;
      const now = new Date();
      const lease = new Date(now.getTime() + 30_000);
      const token = randomUUID();
      const started = await query<Started>(start, [now.toISOString(), lease.toISOString(), batchSize, token]);
      if (started.length > 0) {
        const results = await Promise.all(started.map((one) => ask(one, token)));
        await query(complete, [JSON.stringify(results), new Date().toISOString()]);
      } else if (isLast) return;
      else await nextEnqueued;
    }
  }

  async function ask({ id, prompt }: Started, token: string) {
    const startedAt = performance.now();
    const { text, model, inputTokens: input, outputTokens: output } = await provider.ask(prompt);
    return { id, token, text, model, input, output, ms: Math.round(performance.now() - startedAt) };
  }

  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
  await Promise.all([enqueueAll(), ...Array.from({ length: BATCHES }, runBatches)]);
  console.log('done');
  process.exit(0);
}
