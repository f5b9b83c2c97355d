import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export const DEMO_ANSWER = 'Start with the task you have put off: after ten minutes it is only work.';

export interface DemoProvider {
  /** Without `/chat/completions`. */
  url: string;
  /** What it answers if the output has a schema. */
  price: number;
  close(): Promise<void>;
}

interface ChatRequest {
  model: string;
  response_format?: unknown;
}

/** A chat-completions server on loopback that always gives the same answer, or the price where a schema is sent. */
export async function startDemoProvider(): Promise<DemoProvider> {
  const server = createServer(async (request, response) => {
    const { model, response_format: hasSchema } = (await json(request)) as ChatRequest;
    const content = hasSchema ? JSON.stringify({ price: provider.price }) : DEMO_ANSWER;
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        id: 'demo',
        object: 'chat.completion',
        created: Math.floor(Date.now() / 1000),
        model,
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 17, completion_tokens: 16, total_tokens: 33 },
      }),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const provider: DemoProvider = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    price: 49,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return provider;
}
