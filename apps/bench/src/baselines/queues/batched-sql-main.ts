import { randomUUID } from 'node:crypto';
import { openConnections } from '../connections.ts';
import { COMPLETE, ENQUEUE, START } from './batched-statements.ts';
import { createProvider } from './provider.ts';

// The same writes as Carillon in batches, without limits, events, retries and recovery.
const concurrency = Number(process.env.CONCURRENCY);
/** At a time: while one waits for the database, the others ask the AI. More and smaller ones cost the database more. */
const BATCHES = 2;
const ENQUEUE_SIZE = 500;
const batchSize = Math.ceil(concurrency / BATCHES);
const query = await openConnections(process.env.DATABASE_URL ?? '', BATCHES + 1);
const provider = createProvider(concurrency);

interface Started {
  id: number;
  prompt: string;
}
let isEnqueueing = true;
let wake = Promise.withResolvers<void>();

async function enqueue() {
  for (;;) {
    const now = new Date();
    const enqueued = await query(ENQUEUE, [now.toISOString(), ENQUEUE_SIZE, now.toISOString().slice(0, 10)]);
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
    const started = await query<Started>(START, [now.toISOString(), lease.toISOString(), batchSize, randomUUID()]);
    if (started.length > 0) {
      const results = await Promise.all(started.map(ask));
      await query(COMPLETE, [JSON.stringify(results), new Date().toISOString()]);
    } else if (isLast) return;
    else await nextEnqueued;
  }
}

async function ask({ id, prompt }: Started) {
  const startedAt = performance.now();
  const { text, model, inputTokens: input, outputTokens: output } = await provider.ask(prompt);
  return { id, text, model, input, output, ms: Math.round(performance.now() - startedAt) };
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
await Promise.all([enqueue(), ...Array.from({ length: BATCHES }, runBatches)]);
console.log('done');
process.exit(0);
