import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher } from 'undici';

const CONNECTIONS = 1000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
/** What of an answer may wait for a reader that is slow, before the provider has to wait too. */
const READ_AHEAD_BYTES = 64 * 1024;
/** The answer's headers that are read behind the SDK: LiteLLM tells a call's cost in one. */
const PASSED_ON = ['content-type', 'x-litellm-response-cost'];

/** What went wrong between us and a provider. `sent`: the request has left, so it may be billed. */
export type Fault =
  | { kind: 'refused'; status: number; body: string; headers: Readonly<Record<string, string>> }
  | { kind: 'oversize' }
  | { kind: 'broken'; reason: string; sent: boolean }
  | { kind: 'stopped'; sent: boolean };

/** Carries a `Fault` through the SDK, which hands errors on that it does not know. */
export class ProviderFault extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(`The provider's answer is a fault: ${fault.kind}`);
    this.fault = fault;
  }
}

export interface ProviderHttp {
  /**
   * Resolves to an answer of 2xx as soon as it begins; anything else rejects with a `ProviderFault`. What goes wrong
   * later ends the body with one.
   */
  fetch: typeof globalThis.fetch;
  /** Ends every connection at once. */
  close: () => Promise<void>;
}

/**
 * HTTP to AI providers over undici: keep-alive, up to 1000 connections a provider, no redirects, nothing inflated,
 * answers of at most 16 MiB. It has no deadline but the caller's signal, which ends a call in any phase
 * (decisions §7).
 */
export function createProviderHttp(): ProviderHttp {
  const agent = new Agent({
    connections: CONNECTIONS,
    // One slow or reset HTTP/2 connection would carry a hundred calls with it.
    allowH2: false,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_ANSWER_BYTES,
  });
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const { status, headers, body } = await exchange(agent, {
      url,
      headers: { 'accept-encoding': 'identity', ...Object.fromEntries(new Headers(init?.headers)) },
      body: String(init?.body ?? ''),
      signal: init?.signal ?? null,
    });
    if (status >= 300) {
      throw new ProviderFault({
        kind: 'refused',
        status,
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        body: await readRefusal(body),
      });
    }
    const passedOn = PASSED_ON.flatMap((name): [string, string][] =>
      headers[name] ? [[name, String(headers[name])]] : [],
    );
    return new Response(body, { headers: passedOn });
  };
  return { fetch, close: () => agent.destroy() };
}

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: ReadableStream<Uint8Array>;
}

/**
 * One POST. `Agent.request` would not do: it neither tells whether the request has left, nor ends a call that is
 * still waiting for its connection.
 */
function exchange(
  agent: Agent,
  call: { url: URL; headers: Record<string, string>; body: string; signal: AbortSignal | null },
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null;
    let body: ReadableStreamDefaultController<Uint8Array> | null = null;
    let sent = false;
    let settled = false;

    const settle = (fault: Fault | null) => {
      if (settled) return;
      settled = true;
      call.signal?.removeEventListener('abort', stop);
      if (fault === null) body?.close();
      else if (body) body.error(new ProviderFault(fault));
      else reject(new ProviderFault(fault));
    };
    const stop = () => {
      settle({ kind: 'stopped', sent });
      controller?.abort(new Error('stopped'));
    };
    if (call.signal?.aborted) return stop();
    call.signal?.addEventListener('abort', stop);

    agent.dispatch(
      {
        origin: call.url.origin,
        path: call.url.pathname + call.url.search,
        method: 'POST',
        headers: call.headers,
        body: call.body,
      },
      {
        onRequestStart(started) {
          controller = started;
          if (call.signal?.aborted) started.abort(new Error('stopped'));
        },
        onBodySent() {
          sent = true;
        },
        onResponseStart(_, status, headers) {
          if (status < 200 || settled) return;
          const stream = new ReadableStream<Uint8Array>(
            {
              start(opened) {
                body = opened;
              },
              pull: () => controller?.resume(),
              cancel: stop,
            },
            new ByteLengthQueuingStrategy({ highWaterMark: READ_AHEAD_BYTES }),
          );
          resolve({ status, headers, body: stream });
        },
        onResponseData(reading, chunk) {
          if (settled) return;
          body?.enqueue(chunk);
          if ((body?.desiredSize ?? 0) <= 0) reading.pause();
        },
        onResponseEnd() {
          settle(null);
        },
        onResponseError(_, error) {
          const reason = codeOf(error);
          settle(reason === 'UND_ERR_RES_EXCEEDED_MAX_SIZE' ? { kind: 'oversize' } : { kind: 'broken', reason, sent });
        },
      },
    );
  });
}

/** What can be had of a refusal's body. Its status stands, even if the body breaks off. */
async function readRefusal(body: ReadableStream<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= MAX_REFUSAL_BYTES) break;
    }
  } catch (error) {
    if (!(error instanceof ProviderFault)) throw error;
  }
  return Buffer.concat(chunks).subarray(0, MAX_REFUSAL_BYTES).toString();
}

/** The code of an error or of what caused it, such as `ECONNREFUSED`; never its text, which may hold an address. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return 'unknown cause';
}
