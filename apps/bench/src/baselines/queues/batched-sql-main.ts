import { randomUUID } from 'node:crypto';
import postgres from 'postgres';
import { COMPLETE, ENQUEUE, START } from './batched-statements.ts';
import { type Completion, createProvider } from './provider.ts';

// Hand-written SQL with the same writes as Carillon, many executions in one statement, and nothing else: no quota is
// looked at, no event is told of, nothing is retried or rescued, and one process has it all to itself.
const concurrency = Number(process.env.CONCURRENCY);
const AT_ONCE = 200;
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 10 });
const provider = createProvider(concurrency);

interface Started {
  id: number;
  prompt: string;
}
let running = 0;
let waiting = true;
let starting = false;
const ends: { id: number; text: string; model: string; input: number; output: number; ms: number }[] = [];
let storing: Promise<void> | null = null;

async function enqueue() {
  for (;;) {
    const now = new Date();
    const taken = await sql.unsafe(ENQUEUE, [now.toISOString(), AT_ONCE, now.toISOString().slice(0, 10)], {
      prepare: true,
    });
    void fill();
    if (taken.length === 0) break;
  }
  waiting = false;
  void fill();
}

/** Keeps as many running as may be: looks again whenever some have ended. */
async function fill() {
  if (starting) return;
  starting = true;
  while (running < concurrency) {
    const now = new Date();
    const lease = new Date(now.getTime() + 30_000);
    const limit = Math.min(AT_ONCE, concurrency - running);
    const values = [now.toISOString(), lease.toISOString(), limit, randomUUID()];
    const started = (await sql.unsafe(START, values, { prepare: true })) as unknown as Started[];
    if (started.length === 0) break;
    running += started.length;
    for (const one of started) void execute(one);
  }
  starting = false;
  if (running === 0 && !waiting && ends.length === 0 && !storing) {
    console.log('done');
    process.exit(0);
  }
}

async function execute({ id, prompt }: Started) {
  const startedAt = performance.now();
  const { text, model, inputTokens, outputTokens }: Completion = await provider.ask(prompt);
  ends.push({
    id,
    text,
    model,
    input: inputTokens,
    output: outputTokens,
    ms: Math.round(performance.now() - startedAt),
  });
  storing ??= store();
}

/** Stores together what has ended while the last ones were being stored. */
async function store() {
  while (ends.length > 0) {
    const some = ends.splice(0, AT_ONCE);
    await sql.unsafe(COMPLETE, [JSON.stringify(some), new Date().toISOString()], { prepare: true });
    running -= some.length;
    void fill();
  }
  storing = null;
  void fill();
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
await enqueue();
