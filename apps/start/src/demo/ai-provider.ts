import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

export const DEMO_ANSWER = 'Start with the task you have put off: after ten minutes it is only work.';
export const DEMO_COMPARISON = 'The first shop asks 49 € for the kettle, the second one 39 €.';
/** What it has read for the comparison. */
export const DEMO_PAGES = ['https://one.example.com/kettle', 'https://two.example.com/kettle'];

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
  tools?: unknown;
}

/** OpenRouter's API on loopback: the same answer each time, the price for a schema, a comparison with its sources for web tools. */
export async function startDemoProvider(): Promise<DemoProvider> {
  const server = createServer(async (request, response) => {
    // It has no list of its models.
    if (request.method !== 'POST') return response.writeHead(404).end();
    const { model, response_format: hasSchema, tools } = (await json(request)) as ChatRequest;
    const { content = DEMO_ANSWER, usage, ...sources } = tools ? COMPARISON : {};
    const text = hasSchema ? JSON.stringify({ price: provider.price }) : content;
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        id: 'demo',
        object: 'chat.completion',
        created: Math.floor(Date.now() / 1000),
        model,
        choices: [{ index: 0, message: { role: 'assistant', content: text, ...sources }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 17, completion_tokens: 16, total_tokens: 33, ...usage },
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

const COMPARISON = {
  content: DEMO_COMPARISON,
  annotations: DEMO_PAGES.map((url) => ({ type: 'url_citation', url_citation: { url, title: 'Kettle' } })),
  usage: { server_tool_use_details: { tool_calls_requested: 2, tool_calls_executed: 2 } },
};
