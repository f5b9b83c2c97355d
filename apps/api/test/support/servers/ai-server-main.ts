import { startAiServer } from './ai-server.ts';

// Prints its URL and runs until SIGTERM. PORT: the port. DELAY_MS: the duration of the answers.
const server = await startAiServer({
  port: Number(process.env.PORT ?? 0),
  delayMs: Number(process.env.DELAY_MS ?? 0),
  record: false,
});
console.log(server.url);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close());
