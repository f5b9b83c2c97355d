import { startAiServer } from '../../api/test/support/ai-server.ts';

// The provider as a process of its own: prints its address, and a line for each prompt as it arrives.
const server = await startAiServer({ record: false });
server.answer(({ body }) => {
  const at = Date.now();
  console.log(JSON.stringify({ at, prompt: body.messages.at(-1)?.content }));
  return { delayMs: Number(process.env.DELAY_MS ?? 0) };
});
console.log(`ready at ${server.url}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => server.close());
