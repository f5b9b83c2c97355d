import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import type { Fault } from './provider-error.ts';

const CONNECTIONS = 1000;
const CONNECT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_REFUSAL_BYTES = 64 * 1024;

/** Takes the body of an answer as it comes. A fault that it finds ends the call. */
export interface Reader {
  take(bytes: Buffer): Fault | null;
  end(): Fault | null;
}

export interface ProviderCall {
  origin: string;
  path: string;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
  /** As `performance.now()` counts. */
  deadlineAt: number;
  /** Called as an answer of 2xx begins. */
  read: (headers: IncomingHttpHeaders) => Reader;
}

export interface ProviderHttp {
  /**
   * One POST, until its answer has been read to the end, or the fault that ended it before: any status but 2xx, its
   * deadline, its signal, or `close`, in whatever phase it is. Never rejects.
   */
  post(call: ProviderCall): Promise<Fault | null>;
  readonly closed: boolean;
  /** Ends every call and every connection at once. */
  close(): Promise<void>;
}

/**
 * HTTP to AI providers over undici: keep-alive, up to 1000 connections a provider, no redirects, nothing inflated,
 * answers of at most 16 MiB, and 64 KiB of a refusal (decisions §7).
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
  const running = new Set<Exchange>();
  let closed = false;
  return {
    async post(call) {
      if (closed || call.signal.aborted) return { kind: 'interrupted', sent: false };
      const exchange = new Exchange(call);
      running.add(exchange);
      const { origin, path, headers, body } = call;
      agent.dispatch({ origin, path, method: 'POST', headers, body }, exchange);
      const fault = await exchange.ended;
      running.delete(exchange);
      return fault;
    },
    get closed() {
      return closed;
    },
    close() {
      closed = true;
      for (const exchange of running) exchange.stop('interrupted');
      return agent.destroy();
    },
  };
}

const STOPPED = new Error('stopped');

/**
 * One request as undici tells of it. `Agent.request` would not do: it neither tells whether the request has left, nor
 * ends a call that is still waiting for its connection.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly ended: Promise<Fault | null>;
  #end: (fault: Fault | null) => void;
  #call: ProviderCall;
  #timer: NodeJS.Timeout;
  #interrupt = () => this.stop('interrupted');
  #controller: Dispatcher.DispatchController | null = null;
  #reader: Reader | null = null;
  #refusal: Refusal | null = null;
  #sent = false;
  #settled = false;

  constructor(call: ProviderCall) {
    const { promise, resolve } = Promise.withResolvers<Fault | null>();
    this.ended = promise;
    this.#end = resolve;
    this.#call = call;
    this.#timer = setTimeout(() => this.stop('late'), call.deadlineAt - performance.now());
    call.signal.addEventListener('abort', this.#interrupt);
  }

  stop(kind: 'late' | 'interrupted') {
    this.#giveUp({ kind, sent: this.#sent });
  }

  #giveUp(fault: Fault) {
    this.#settle(fault);
    this.#controller?.abort(STOPPED);
  }

  #settle(fault: Fault | null) {
    if (this.#settled) return;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#call.signal.removeEventListener('abort', this.#interrupt);
    if (this.#refusal === null) this.#end(fault);
    else this.#end(fault?.kind === 'interrupted' ? { kind: 'interrupted', sent: false } : this.#refusal.asFault());
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#controller = controller;
    if (this.#settled) controller.abort(STOPPED);
  }

  onBodySent() {
    this.#sent = true;
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders) {
    if (status < 200 || this.#settled) return;
    if (status < 300) this.#reader = this.#call.read(headers);
    else this.#reader = this.#refusal = new Refusal(status, headers);
  }

  onResponseData(_: Dispatcher.DispatchController, bytes: Buffer) {
    if (this.#settled) return;
    const fault = this.#reader?.take(bytes);
    if (fault) this.#giveUp(fault);
  }

  onResponseEnd() {
    if (!this.#settled) this.#settle(this.#reader?.end() ?? null);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error) {
    const reason = codeOf(error);
    if (reason === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') this.#settle({ kind: 'oversize' });
    else this.#settle({ kind: 'broken', reason, sent: this.#sent });
  }
}

/** What can be had of a refusal's body. Its status stands, even if the body breaks off. */
class Refusal implements Reader {
  #status: number;
  #headers: IncomingHttpHeaders;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(status: number, headers: IncomingHttpHeaders) {
    this.#status = status;
    this.#headers = headers;
  }

  take(bytes: Buffer) {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    return this.#bytes >= MAX_REFUSAL_BYTES ? this.asFault() : null;
  }

  end() {
    return this.asFault();
  }

  asFault(): Fault {
    const body = Buffer.concat(this.#chunks).subarray(0, MAX_REFUSAL_BYTES).toString();
    return { kind: 'refused', status: this.#status, headers: this.#headers, body };
  }
}

/** The code of an error or of what caused it, such as `ECONNREFUSED`; never its text, which may hold an address. */
function codeOf(error: unknown): string {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ('code' in at && typeof at.code === 'string') return at.code;
  }
  return 'unknown cause';
}
