import postgres from 'postgres';
import { createProvider } from './provider.ts';

// The upper bound: CONCURRENCY calls in flight at any time, without database writes.
const concurrency = Number(process.env.CONCURRENCY);
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 1 });
const prompts = (await sql<{ prompt: string }[]>`select prompt from tasks order by id`).map(({ prompt }) => prompt);
await sql.end();
const provider = createProvider(concurrency);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));

const startedAt = performance.now();
let lastStartMs = 0;
async function askRepeatedly() {
  for (let prompt = prompts.pop(); prompt !== undefined; prompt = prompts.pop()) {
    lastStartMs = performance.now() - startedAt;
    await provider.ask(prompt);
  }
}
await Promise.all(Array.from({ length: concurrency }, askRepeatedly));
console.log(`done: ${JSON.stringify({ lastStartMs, lastCompletionMs: performance.now() - startedAt })}`);
process.exit(0);
