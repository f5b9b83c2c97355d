import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { type Arrival, monotonicMs } from './ai-server.ts';

// DELAY_MS: duration of the answers as `min-max`. RECORD: whether to record the prompts.
const [minDelayMs = 0, maxDelayMs = minDelayMs] = (process.env.DELAY_MS ?? '0').split('-').map(Number);
const record = process.env.RECORD === 'true';
const ANSWER = 'The moons of Saturn are many, and Titan is the largest of them. '.repeat(3);
let arrivals: Arrival[] = [];
let inFlight = 0;

const server = createServer(async (request, response) => {
  const now = { at: Date.now(), monotonicMs: monotonicMs() };
  if (request.method === 'GET') {
    const isList = request.url === '/arrivals';
    response.end(JSON.stringify(isList ? arrivals : { inFlight }));
    if (isList) arrivals = [];
    return;
  }
  inFlight += 1;
  response.once('close', () => {
    inFlight -= 1;
  });
  const { model, messages } = JSON.parse(await text(request)) as { model: string; messages: { content: unknown }[] };
  const prompt = readText(messages.at(-1)?.content);
  if (record) arrivals.push({ prompt, ...now });
  if (maxDelayMs === 0) return answer(response, model);
  setTimeout(() => answer(response, model), minDelayMs + toFraction(prompt) * (maxDelayMs - minDelayMs));
});

const readText = (content: unknown): string =>
  typeof content === 'string' ? content : (content as { text?: string }[]).map((part) => part.text ?? '').join('');

/** Derived from the prompt, so that the same call takes equally long for all contestants. */
const toFraction = (prompt: string) => createHash('md5').update(prompt).digest().readUInt32BE() / 2 ** 32;

function answer(response: ServerResponse, model: string) {
  const body = JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_750_000_000,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 40, completion_tokens: 50, total_tokens: 90 },
  });
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', 4096);
await once(server, 'listening');
console.log(`ready at http://127.0.0.1:${(server.address() as AddressInfo).port}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(0));
