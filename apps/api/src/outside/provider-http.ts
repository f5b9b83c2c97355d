import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher } from 'undici';

const CONNECTIONS = 1000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;
/** The answer's headers that are read behind the SDK: LiteLLM tells a call's cost in one. */
const PASSED_ON = ['x-litellm-response-cost'];

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
  /** Resolves to an answer of 2xx, read whole; anything else rejects with a `ProviderFault`. */
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
        body: body.subarray(0, MAX_REFUSAL_BYTES).toString(),
      });
    }
    const passedOn = PASSED_ON.flatMap((name): [string, string][] =>
      headers[name] ? [[name, String(headers[name])]] : [],
    );
    return new Response(new Uint8Array(body), { headers: passedOn });
  };
  return { fetch, close: () => agent.destroy() };
}

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
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
    let sent = false;
    let status = 0;
    let headers: Reply['headers'] = {};
    const chunks: Buffer[] = [];

    const settle = (fault: Fault | null) => {
      call.signal?.removeEventListener('abort', stop);
      // The status of a refusal stands, even if its body broke off.
      if (fault === null || status >= 300) resolve({ status, headers, body: Buffer.concat(chunks) });
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
        onResponseStart(_, statusCode, received) {
          if (statusCode < 200) return;
          status = statusCode;
          headers = received;
        },
        onResponseData(_, chunk) {
          chunks.push(chunk);
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

/** The code of an error or of what caused it, such as `ECONNREFUSED`; never its text, which may hold an address. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return 'unknown cause';
}
