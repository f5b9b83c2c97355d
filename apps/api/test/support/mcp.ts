import { request } from 'node:http';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

type Headers = Record<string, string>;

const INFO = { name: 'A test', version: '1.2.3' };
const PREFIX = 'io.modelcontextprotocol/';

/** Of a request of the protocol of 2026. */
export const ENVELOPE = {
  [`${PREFIX}protocolVersion`]: '2026-07-28',
  [`${PREFIX}clientInfo`]: INFO,
  [`${PREFIX}clientCapabilities`]: {},
};

/** The headers that repeat the body of a request of 2026. */
export const envelopeHeaders = (method: string, name?: string): Headers => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  ...(name === undefined ? {} : { 'mcp-name': name }),
});

/** Without it, the client of 2026 speaks as clients of 2025 do. */
export const ERA_2026 = { versionNegotiation: { mode: { pin: '2026-07-28' } } };

/** What the clients of both eras have. */
interface AnyClient {
  listTools(): Promise<{ tools: unknown[] }>;
  callTool(call: { name: string; arguments: object }): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

/** Connects the official client of 2026. */
export async function connect(url: URL, headers: Headers): Promise<AnyClient> {
  const client = new Client(INFO, ERA_2026);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client as AnyClient;
}

/** Connects the official client of 2025. */
export async function connectEarlier(url: URL, headers: Headers): Promise<AnyClient> {
  const client = new EarlierClient(INFO);
  await client.connect(new EarlierTransport(url, { requestInit: { headers } }) as never);
  return client as AnyClient;
}

export interface Answer {
  status: number;
  headers: globalThis.Headers;
  text: string;
  /** The JSON-RPC message, also of an event stream. */
  message: { id?: unknown; result?: Record<string, unknown>; error?: { code: number; message: string } };
}

/** Sends a body that no client would send. */
export async function post(url: URL, headers: Headers, body: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  const [, json = text] = /^data: (.*)$/m.exec(text) ?? [];
  return { status: response.status, headers: response.headers, text, message: parse(json) };
}

function parse(text: string): Answer['message'] {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** Sends the head of a request with raw headers, and hangs up after the answer. */
export const postRaw = (url: URL, headers: string[]): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: ['Host', url.host, ...headers], agent: false }, (answer) => {
      resolve(answer.statusCode);
      sent.destroy();
    });
    sent.on('error', reject).flushHeaders();
  });
