import { startAiServer } from './ai-server.ts';

// The AI server as a process of its own, for whoever kills processes or measures them: prints its address and runs
// until it is told to stop. PORT: where to listen; DELAY_MS: how long each answer takes.
const server = await startAiServer({
  port: Number(process.env.PORT ?? 0),
  delayMs: Number(process.env.DELAY_MS ?? 0),
  record: false,
});
console.log(server.url);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close());
