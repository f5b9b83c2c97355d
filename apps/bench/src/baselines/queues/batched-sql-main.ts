import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { COMPLETE, ENQUEUE, START } from './batched-statements.ts';
import { type Completion, createProvider } from './provider.ts';

// The same writes as Carillon in batches, without quotas, events, retries, recovery or a second process.
const concurrency = Number(process.env.CONCURRENCY);
const BATCH_SIZE = 200;
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10 });
const provider = createProvider(concurrency);

interface Started {
  id: number;
  prompt: string;
}
let running = 0;
let enqueueing = true;
let starting = false;
const results: { id: number; text: string; model: string; input: number; output: number; ms: number }[] = [];
let storing: Promise<void> | null = null;

async function enqueue() {
  for (;;) {
    const now = new Date();
    const enqueued = await sql.unsafe(ENQUEUE, [now.toISOString(), BATCH_SIZE, now.toISOString().slice(0, 10)], {
      prepare: true,
    });
    void startPending();
    if (enqueued.length === 0) break;
  }
  enqueueing = false;
  void startPending();
}

async function startPending() {
  if (starting) return;
  starting = true;
  while (running < concurrency) {
    const now = new Date();
    const lease = new Date(now.getTime() + 30_000);
    const limit = Math.min(BATCH_SIZE, concurrency - running);
    const values = [now.toISOString(), lease.toISOString(), limit, randomUUID()];
    const started = (await sql.unsafe(START, values, { prepare: true })) as unknown as Started[];
    if (started.length === 0) break;
    running += started.length;
    for (const execution of started) void execute(execution);
  }
  starting = false;
  if (running === 0 && !enqueueing && results.length === 0 && !storing) {
    console.log('done');
    process.exit(0);
  }
}

async function execute({ id, prompt }: Started) {
  const startedAt = performance.now();
  const { text, model, inputTokens, outputTokens }: Completion = await provider.ask(prompt);
  results.push({
    id,
    text,
    model,
    input: inputTokens,
    output: outputTokens,
    ms: Math.round(performance.now() - startedAt),
  });
  storing ??= store();
}

/** Stores the results that arrived while the previous batch was being stored. */
async function store() {
  while (results.length > 0) {
    const batch = results.splice(0, BATCH_SIZE);
    await sql.unsafe(COMPLETE, [JSON.stringify(batch), new Date().toISOString()], { prepare: true });
    running -= batch.length;
    void startPending();
  }
  storing = null;
  void startPending();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
await enqueue();
