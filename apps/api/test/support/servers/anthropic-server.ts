import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AnthropicMessage, buildAnswer, buildEvents } from './anthropic-message.ts';

interface Answer {
  status?: number;
  body?: object;
  /** Sent in one piece or as a stream, as the request wants it. */
  message?: AnthropicMessage;
  /** The events of a stream, and what follows them. */
  events?: object[];
  then?: 'stall' | 'reset' | 'end';
}

interface Test {
  after: (work: () => Promise<void>) => void;
}

const USAGE = { input_tokens: 1000, output_tokens: 100 };

/** Starts a server with Anthropic's Messages API, which requires the key `anthropic-key-1`. */
export async function startAnthropicServer(t: Test) {
  const requests: { url: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[] = [];
  let answers: (Answer | null)[] = [null];
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    const body = text === '' ? {} : JSON.parse(text);
    const next = answers.length > 1 ? answers.shift() : answers[0];
    requests.push({ url: request.url ?? '', headers: request.headers, body });
    if (request.headers['x-api-key'] !== 'anthropic-key-1') {
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ type: 'error', error: { type: 'authentication_error', message: 'No.' } }));
    } else if (findWrongTool(body)) {
      response.writeHead(400, { 'content-type': 'application/json' });
      const error = { type: 'invalid_request_error', message: findWrongTool(body) };
      response.end(JSON.stringify({ type: 'error', error }));
    } else if (body.stream === true && !next?.body) stream(response, body.model, next ?? {});
    else if (next?.then === 'stall') response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
    else {
      response.writeHead(next?.status ?? 200, { 'content-type': 'application/json' });
      const message = next?.message ? buildAnswer(body.model, next.message) : buildMessage(body.model);
      response.end(JSON.stringify(next?.body ?? message));
    }
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  /** The last one answers all further requests. */
  const answer = (...given: (Answer | null)[]) => {
    answers = given;
  };
  return { url, requests, answer };
}

const buildMessage = (model: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: `${model}-20250929`,
  content: [{ type: 'text', text: 'Titan, Rhea, Iapetus' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
});

export const buildStartEvents = (model: string) => [
  {
    type: 'message_start',
    message: { ...buildMessage(model), content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
];
export const buildTextDelta = (text: string) => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text },
});
const END_EVENTS = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 100 } },
  { type: 'message_stop' },
];

const TOOLS: Record<string, string> = { web_search_20250305: 'web_search', web_fetch_20250910: 'web_fetch' };

/** What the API says of tools that it does not take; null if it takes them. */
function findWrongTool({ tools, output_config }: Record<string, unknown>): string | null {
  if (tools === undefined) return null;
  if (!Array.isArray(tools)) return 'tools: Input should be a valid list';
  for (const [at, { type, name, max_uses, citations }] of tools.entries()) {
    if (TOOLS[type] === undefined || TOOLS[type] !== name) return `tools.${at}: Input tag '${type}' is not known`;
    if (!Number.isInteger(max_uses) || max_uses < 1) return `tools.${at}.max_uses: Input should be greater than 0`;
    if (citations?.enabled && output_config) return 'Citations cannot be used with output_config.format';
  }
  return null;
}

function stream(response: ServerResponse, model: string, answer: Answer): void {
  const { events, message, then = 'end' } = answer;
  const sent = events ??
    (message && buildEvents(model, message)) ?? [
      ...buildStartEvents(model),
      ...['Titan, ', 'Rhea, ', 'Iapetus'].map(buildTextDelta),
      ...END_EVENTS,
    ];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const text = sent
    .map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
  if (then === 'end') response.end(text);
  else response.write(text, () => then === 'reset' && response.socket?.resetAndDestroy());
}
