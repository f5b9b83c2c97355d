import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ChatRequest, parseRequest, readBody, sendError } from './ai-server-input.ts';
import { buildPayload } from './ai-server-payload.ts';

/** How a request is answered. Default: a completion with usage. */
export interface AiAnswer {
  text?: string;
  /** The chunks of a stream. Default: word by word. */
  pieces?: string[];
  /** After this many chunks a stream stalls, is reset, ends, or sends this event and ends. */
  cut?: { after: number; by: 'stall' | 'reset' | 'end' | object };
  model?: string;
  finishReason?: string;
  /** Null for a response without usage. `cost` is OpenRouter's, in US dollars. */
  usage?: { promptTokens?: number; completionTokens?: number; cost?: number; [more: string]: unknown } | null;
  /** OpenRouter's, which a stream sends with its last text. */
  annotations?: object[];
  delayMs?: number;
  status?: number;
  headers?: Record<string, string>;
  /** Replaces the completion; objects are sent as JSON. */
  body?: string | Uint8Array | object;
  /** Sends the body slowly, piece by piece. */
  drip?: { bytes: number; everyMs: number };
  /** Stops before the headers or before the body. */
  hang?: 'head' | 'body';
  /** Resets the connection after this many bytes of the body, or before the headers. */
  reset?: true | number;
}

export interface AiServerRequest {
  body: ChatRequest;
  headers: IncomingHttpHeaders;
  /** `performance.timeOrigin + performance.now()` of its arrival. */
  at: number;
  /** Resolves when the client disconnects before the end of the response. */
  hungUp: Promise<void>;
}

export type AnswerFunction = (request: AiServerRequest, index: number) => AiAnswer | Promise<AiAnswer>;

export interface AiServerOptions {
  /** Default: any free port. */
  port?: number;
  /** The required bearer token. Default: none. */
  apiKey?: string;
  /** Default of `AiAnswer.delayMs`. */
  delayMs?: number;
  /** Whether to record `requests`. Default: true. */
  record?: boolean;
}

export type AiServer = Awaited<ReturnType<typeof startAiServer>>;

/** Starts a server with OpenAI's chat completions, streamed or not, and its validation. `url` ends before the path. */
export async function startAiServer(options: AiServerOptions = {}) {
  const requests: AiServerRequest[] = [];
  const timers = new Set<NodeJS.Timeout>();
  let answering: AnswerFunction = () => ({});
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
    const { fault, body } = parseRequest(request, raw, options.apiKey);
    if (fault) return sendError(response, fault);
    const hungUp = new Promise<void>((resolve) => {
      response.once('close', () => {
        if (!response.writableFinished) resolve();
      });
    });
    const received = { body: body as ChatRequest, headers: request.headers, at, hungUp };
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
    const bytes = buildPayload(body, answer, streamed);
    const type = streamed ? 'text/event-stream' : 'application/json';
    const whole =
      streamed || answer.drip || answer.hang || answer.reset !== undefined ? {} : { 'content-length': bytes.length };
    response.writeHead(answer.status ?? 200, { 'content-type': type, ...whole, ...answer.headers });
    if (answer.hang) return response.flushHeaders();
    if (answer.reset !== undefined) {
      return response.write(bytes.subarray(0, answer.reset), () => socket?.resetAndDestroy());
    }
    if (streamed && answer.cut?.by === 'stall') return response.write(bytes);
    if (streamed && answer.cut?.by === 'reset') return response.write(bytes, () => socket?.resetAndDestroy());
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
      if (!response.headersSent) sendError(response, { status: 500, message: String(error), code: 'test_server' });
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
    /** The number of connections opened so far. */
    connections: () => connections,
    answer: (next: AnswerFunction) => {
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
