import postgres from 'postgres';
import { createProvider } from './provider.ts';

// The limit itself: so many calls in flight at any time, each followed at once by the next, and nothing is written.
const concurrency = Number(process.env.CONCURRENCY);
const sql = postgres(process.env.DATABASE_URL ?? '', { max: 1 });
const prompts = (await sql<{ prompt: string }[]>`select prompt from tasks order by id`).map(({ prompt }) => prompt);
await sql.end();
const provider = createProvider(concurrency);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));

async function lane() {
  for (let prompt = prompts.pop(); prompt !== undefined; prompt = prompts.pop()) await provider.ask(prompt);
}
const startedAt = performance.now();
await Promise.all(Array.from({ length: concurrency }, lane));
console.log(`done in ${(performance.now() - startedAt).toFixed(1)} ms`);
process.exit(0);
