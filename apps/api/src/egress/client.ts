import type { Dispatcher, Pool } from 'undici';
import { createConnector, NotAdmitted } from './connector.ts';
import { createEgress, type EgressSettings } from './policy.ts';
import { createPools, type PoolLimits } from './pools.ts';
import { createLookup, type Lookup } from './resolver.ts';

const CONNECT_MS = 5000;
const RESPONSE_MS = 30_000;
const MAX_BYTES = 64 * 1024;
/** Nothing is inflated here, so nothing packed is asked for. */
const PLAIN = { 'accept-encoding': 'identity' };

/** One request to an address that a user gave. */
export interface HttpPost {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Sent as it is. */
  body: Buffer | string;
  /** Until the connection stands, its TLS included; 5 s unless told. */
  connectMs?: number;
  /** From then until the answer is read whole; 30 s unless told. Nothing the receiver sends makes it longer. */
  responseMs?: number;
  /** Of the answer's body; what is beyond is not read, and the connection is dropped. 64 KiB unless told. */
  maxBytes?: number;
  /** Ends the request in any phase. */
  signal?: AbortSignal;
}

/**
 * What became of a request. `error` is written for the owner of the address and may be stored and shown: it says what
 * to mend, and is the same for whatever would tell of hosts and ports (null for an answer of 2xx).
 *
 * - `answered`: any status, redirects among them, as they are not followed.
 * - `address`: nothing was sent, as the address may not be reached, or its name has no address.
 * - `connection`: refused, filtered, TLS, reset, not HTTP: all the same.
 * - `timeout`: connected, but there was no answer in time.
 * - `stopped`: by the caller's signal.
 */
export type HttpOutcome =
  | { kind: 'answered'; status: number; error: string | null }
  | { kind: Failure; status: null; error: string };
type Failure = 'address' | 'connection' | 'timeout' | 'stopped';

export interface Http {
  /** Never rejects. */
  post(request: HttpPost): Promise<HttpOutcome>;
  /** Why the address may not be used, for the person who gave it; null when it may. Asks no name server. */
  checkAddress(url: string): string | null;
  /** Ends every connection at once. */
  close(): Promise<void>;
}

/** How the tests and the outside world differ. */
export interface HttpOptions extends PoolLimits {
  lookup?: Lookup;
  connectMs?: number;
}

/**
 * The one way to addresses that users give: only to those that `createEgress` admits, following no redirect, believing
 * no proxy variable, reading no more than it was told (decisions §8; security T1–T4). Connections are kept for later
 * requests to the same origin.
 */
export function createHttp(settings: EgressSettings, options: HttpOptions = {}): Http {
  const egress = createEgress(settings);
  const lookup = options.lookup ?? createLookup({ knowsHosts: settings.egressAllow.length > 0 });
  const connector = createConnector(egress, lookup, options.connectMs ?? CONNECT_MS);
  const pools = createPools(connector, options);
  return {
    async post(request) {
      const { url, problem } = egress.read(request.url);
      if (url === null) return { kind: 'address', status: null, error: `Nothing was sent: the address ${problem}.` };
      return exchange(pools.of(url.origin), url.path, request);
    },
    checkAddress: (url) => egress.read(url).problem,
    close: () => pools.close(),
  };
}

function exchange(pool: Pool, path: string, request: HttpPost): Promise<HttpOutcome> {
  const { body, signal, connectMs = CONNECT_MS, responseMs = RESPONSE_MS, maxBytes = MAX_BYTES } = request;
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | null = null;
    let status: number | null = null;
    let bytes = 0;
    let settled = false;

    const settle = (kind: Failure) => {
      if (settled) return;
      settled = true;
      clearTimeout(deadline);
      signal?.removeEventListener('abort', stop);
      // The status stands, however the body ended.
      resolve(status === null ? { kind, status, error: wordFailure(kind, responseMs) } : answered(status));
    };
    const drop = (kind: Failure) => {
      settle(kind);
      controller?.abort(new Error(kind));
    };
    const stop = () => drop('stopped');
    let deadline: NodeJS.Timeout | undefined;
    if (signal?.aborted) return stop();
    signal?.addEventListener('abort', stop);

    pool.dispatch(
      { path, method: 'POST', headers: { ...PLAIN, ...request.headers }, body },
      {
        onRequestStart(started) {
          controller = started;
          if (settled) return started.abort(new Error('settled'));
          clearTimeout(deadline);
          deadline = setTimeout(drop, responseMs, 'timeout');
        },
        onResponseStart(_, received) {
          if (received >= 200) status = received;
        },
        onResponseData(_, chunk) {
          bytes += chunk.length;
          if (bytes > maxBytes) drop('connection');
        },
        onResponseEnd: () => settle('connection'),
        onResponseError: (_, error) => settle(error instanceof NotAdmitted ? 'address' : 'connection'),
      },
    );
    // A kept connection has taken the request by now.
    if (!settled && !controller) deadline = setTimeout(drop, connectMs, 'connection');
  });
}

function answered(status: number): HttpOutcome {
  if (status < 300) return { kind: 'answered', status, error: null };
  const redirect = status < 400 ? ', and redirects are not followed: give the address that it leads to' : '';
  return { kind: 'answered', status, error: `The receiver answered ${status}${redirect}.` };
}

function wordFailure(kind: Failure, responseMs: number): string {
  return {
    address: 'Nothing was sent: the host of the address has no public address.',
    connection:
      'No answer: there was no connection to the receiver, or it broke. It may be down, or its certificate invalid.',
    timeout: `The receiver did not answer within ${responseMs / 1000} s.`,
    stopped: 'The request was stopped before the receiver answered.',
  }[kind];
}
