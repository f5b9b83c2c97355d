import { randomUUID } from 'node:crypto';
import { openConnections } from '../connections.ts';
import { COMPLETE, ENQUEUE, START } from './batched-statements.ts';
import { createProvider } from './provider.ts';

// The same writes as Carillon in batches, without quotas, events, retries, recovery or a second process.
const concurrency = Number(process.env.CONCURRENCY);
const LANES = 4;
const ENQUEUE_SIZE = 500;
const batchSize = Math.ceil(concurrency / LANES);
const query = await openConnections(process.env.DATABASE_URL ?? '', LANES + 1);
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
    const next = wake.promise;
    const last = !isEnqueueing;
    const now = new Date();
    const lease = new Date(now.getTime() + 30_000);
    const started = await query<Started>(START, [now.toISOString(), lease.toISOString(), batchSize, randomUUID()]);
    if (started.length > 0) {
      const results = await Promise.all(started.map(ask));
      await query(COMPLETE, [JSON.stringify(results), new Date().toISOString()]);
    } else if (last) return;
    else await next;
  }
}

async function ask({ id, prompt }: Started) {
  const startedAt = performance.now();
  const { text, model, inputTokens: input, outputTokens: output } = await provider.ask(prompt);
  return { id, text, model, input, output, ms: Math.round(performance.now() - startedAt) };
}

console.log('begin');
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
await Promise.all([enqueue(), ...Array.from({ length: LANES }, runBatches)]);
console.log(`cpu ${(process.cpuUsage().user + process.cpuUsage().system) / 10000}`);
console.log('done');
process.exit(0);
