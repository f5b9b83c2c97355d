import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChatRequest, findFault, readBody, refuse } from './ai-server-input.ts';

/** How one request is answered. What is left out is as a friendly provider would do it. */
export interface AiAnswer {
  text?: string;
  model?: string;
  finishReason?: string;
  /** Null: the provider tells no usage. `cost` is OpenRouter's, in US dollars. */
  usage?: { promptTokens?: number; completionTokens?: number; cost?: number } | null;
  /** Wait before anything is answered. */
  delayMs?: number;
  status?: number;
  headers?: Record<string, string>;
  /** Sent instead of a completion, objects as JSON. */
  body?: string | Uint8Array | object;
  /** The body comes in pieces of so many bytes, one every so many milliseconds. */
  drip?: { bytes: number; everyMs: number };
  /** Nothing more comes: not even the head, or the head and no body. */
  hang?: 'head' | 'body';
  /** The connection is reset after so many bytes of the body; true: before the head. */
  reset?: true | number;
}

export interface AiServerRequest {
  body: ChatRequest;
  headers: IncomingHttpHeaders;
  /** `performance.timeOrigin + performance.now()` when it had arrived, in milliseconds. */
  at: number;
}

export type Answering = (request: AiServerRequest, index: number) => AiAnswer | Promise<AiAnswer>;

export interface AiServerOptions {
  /** Unset: any free port. */
  port?: number;
  /** The key it demands as bearer; unset: it asks for none. */
  apiKey?: string;
  /** How long each answer takes that says nothing else. */
  delayMs?: number;
  /** False: `requests` stays empty, for long runs. */
  record?: boolean;
}

export type AiServer = Awaited<ReturnType<typeof startAiServer>>;

/**
 * A real HTTP server on loopback that speaks OpenAI's chat completions, streamed ones included, and refuses what the
 * real one refuses. By default it answers at once, the same to the same request, with usage. `url` ends before
 * `/chat/completions`; `close` resolves when every connection has ended.
 */
export async function startAiServer(options: AiServerOptions = {}) {
  const requests: AiServerRequest[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let answering: Answering = () => ({});
  let count = 0;
  let connections = 0;

  const after = (ms: number, work: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, ms);
    timers.add(timer);
  };

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const raw = await readBody(request);
    const at = performance.timeOrigin + performance.now();
    const { fault, body } = findFault(request, raw, options.apiKey);
    if (fault) return refuse(response, fault);
    const received = { body: body as ChatRequest, headers: request.headers, at };
    if (options.record !== false) requests.push(received);
    const answer = await answering(received, count++);
    const delayMs = answer.delayMs ?? options.delayMs ?? 0;
    if (delayMs > 0) after(delayMs, () => send(received.body, answer, response));
    else send(received.body, answer, response);
  }

  function send(body: ChatRequest, answer: AiAnswer, response: ServerResponse) {
    const socket = response.socket;
    if (answer.hang === 'head') return;
    if (answer.reset === true) return socket?.resetAndDestroy();
    const streamed = body.stream === true && answer.body === undefined && answer.status === undefined;
    const bytes = payload(body, answer, streamed);
    const type = streamed ? 'text/event-stream' : 'application/json';
    const whole = answer.drip || answer.hang || answer.reset !== undefined ? {} : { 'content-length': bytes.length };
    response.writeHead(answer.status ?? 200, { 'content-type': type, ...whole, ...answer.headers });
    if (answer.hang) return response.flushHeaders();
    if (answer.reset !== undefined) {
      return response.write(bytes.subarray(0, answer.reset), () => socket?.resetAndDestroy());
    }
    if (!answer.drip) return response.end(bytes);
    const { bytes: piece, everyMs } = answer.drip;
    const drip = (from: number) => {
      if (response.destroyed) return;
      if (from >= bytes.length) return response.end();
      response.write(bytes.subarray(from, from + piece));
      after(everyMs, () => drip(from + piece));
    };
    drip(0);
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error) => {
      if (!response.headersSent) refuse(response, { status: 500, message: String(error), code: 'test_server' });
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    /** How many connections clients have opened so far. */
    connections: () => connections,
    answer: (next: Answering) => {
      answering = next;
    },
    close: () =>
      new Promise<void>((resolve) => {
        for (const timer of timers) clearTimeout(timer);
        timers.clear();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function payload(request: ChatRequest, answer: AiAnswer, streamed: boolean): Buffer {
  if (answer.body instanceof Uint8Array) return Buffer.from(answer.body);
  if (answer.body !== undefined) {
    return Buffer.from(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  }
  const prompt = textOf(request);
  const text = answer.text ?? `Answer to: ${prompt.slice(0, 200)}`;
  const about = { id: 'chatcmpl-1', created: 1_750_000_000, model: answer.model ?? request.model };
  const finish = answer.finishReason ?? 'stop';
  const usage = answer.usage === null ? {} : { usage: usageOf(answer.usage ?? {}, prompt, text) };
  if (!streamed) {
    const choice = { index: 0, message: { role: 'assistant', content: text }, finish_reason: finish };
    return Buffer.from(JSON.stringify({ ...about, object: 'chat.completion', choices: [choice], ...usage }));
  }
  const chunk = (delta: object, finishReason: string | null) => ({
    ...about,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const events = [
    chunk({ role: 'assistant', content: '' }, null),
    ...(text.match(/\S+\s*|\s+/g) ?? []).map((content) => chunk({ content }, null)),
    chunk({}, finish),
    ...(answer.usage === null ? [] : [{ ...about, object: 'chat.completion.chunk', choices: [], ...usage }]),
  ];
  return Buffer.from(`${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`);
}

/** The text of the last message. */
function textOf(request: ChatRequest): string {
  const content = request.messages.at(-1)?.content ?? '';
  return typeof content === 'string' ? content : content.map((part) => part.text ?? '').join('\n');
}

function usageOf(given: NonNullable<AiAnswer['usage']>, prompt: string, text: string) {
  const promptTokens = given.promptTokens ?? Math.ceil(prompt.length / 4);
  const completionTokens = given.completionTokens ?? Math.ceil(text.length / 4);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    ...(given.cost === undefined ? {} : { cost: given.cost }),
  };
}
