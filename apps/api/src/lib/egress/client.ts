import type { IncomingHttpHeaders } from 'node:http';
import { createConnector, NoAllowedAddress } from './connector.ts';
import { exchange } from './exchange.ts';
import { createEgressPolicy, type EgressSettings } from './policy.ts';
import { createPools, type PoolLimits } from './pools.ts';
import { createLookup, type Lookup } from './resolver.ts';

const CONNECT_MS = 5000;
const RESPONSE_MS = 30_000;
const MAX_BYTES = 64 * 1024;
const DEFAULT_HEADERS = { 'accept-encoding': 'identity' };

interface HttpGet {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** Includes TLS. Default: 5 s. */
  connectMs?: number;
  /** From the connection until the response is read, no matter what the receiver sends. Default: 30 s. */
  responseMs?: number;
  /** Default: 64 KiB; beyond it the connection is dropped. */
  maxBytes?: number;
  signal?: AbortSignal;
  /** Whether the outcome has the answer's headers and body. Default: false. */
  keepsAnswer?: boolean;
}

interface HttpPost extends HttpGet {
  body: Buffer | string;
}

interface HttpAnswer {
  headers: IncomingHttpHeaders;
  /** At most `maxBytes`, as UTF-8; what a broken connection has left. */
  body: string;
  isWhole: boolean;
}

/** `error` is shown to the owner of the address, so it does not reveal hosts and ports of the network. */
export type HttpOutcome =
  | { kind: 'answered'; status: number; error: string | null; answer?: HttpAnswer }
  | { kind: FailureKind; status: null; error: string };
type FailureKind = 'not_sent' | 'connection' | 'timeout' | 'aborted';

export interface HttpClient {
  /** Never rejects, and follows no redirects. */
  get(request: HttpGet): Promise<HttpOutcome>;
  /** The same. */
  post(request: HttpPost): Promise<HttpOutcome>;
  /** Returns the problem for the user, or null. Does not resolve names. */
  checkAddress(url: string): string | null;
  close(): Promise<void>;
}

export interface HttpClientOptions extends PoolLimits {
  lookup?: Lookup;
  connectMs?: number;
}

/** The only client for addresses that users give. Ignores proxy variables. */
export function createHttpClient(settings: EgressSettings, options: HttpClientOptions = {}): HttpClient {
  const policy = createEgressPolicy(settings);
  const lookup = options.lookup ?? createLookup({ useHostsFile: settings.egressAllow.length > 0 });
  const connector = createConnector(policy, lookup, options.connectMs ?? CONNECT_MS);
  const pools = createPools(connector, options);
  async function send(method: 'GET' | 'POST', request: HttpGet & Partial<HttpPost>): Promise<HttpOutcome> {
    const { connectMs = CONNECT_MS, responseMs = RESPONSE_MS, maxBytes = MAX_BYTES, signal } = request;
    const { url, problem } = policy.parseUrl(request.url);
    if (url === null) return { kind: 'not_sent', status: null, error: `Nothing was sent: the address ${problem}.` };
    let headers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    const { end, status, error } = await exchange(pools.get(url.origin), {
      path: url.path,
      method,
      headers: { ...DEFAULT_HEADERS, ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
      signals: signal ? [signal] : [],
      connectMs,
      timeoutMs: responseMs,
      maxBytes,
      ...(request.keepsAnswer && {
        onHeaders: (_, received) => {
          headers = received;
        },
        onData: (chunk) => {
          chunks.push(chunk);
          return false;
        },
      }),
    });
    // The status counts, however the body ends.
    if (status !== null) {
      const body = Buffer.concat(chunks).toString();
      const answer = request.keepsAnswer && { answer: { headers, body, isWhole: end === 'complete' } };
      return { ...toAnswer(status), ...answer };
    }
    if (end === 'timeout' || end === 'aborted') return toFailure(end, responseMs);
    return toFailure(error instanceof NoAllowedAddress ? 'not_sent' : 'connection', responseMs);
  }
  return {
    get: (request) => send('GET', request),
    post: (request) => send('POST', request),
    checkAddress: (url) => policy.parseUrl(url).problem,
    close: () => pools.close(),
  };
}

function toAnswer(status: number): HttpOutcome {
  if (status < 300) return { kind: 'answered', status, error: null };
  const redirect = status < 400 ? ', and redirects are not followed: give the address that it leads to' : '';
  return { kind: 'answered', status, error: `The receiver answered ${status}${redirect}.` };
}

function toFailure(kind: FailureKind, responseMs: number): HttpOutcome {
  const error = {
    not_sent: 'Nothing was sent: the host of the address has no public address.',
    connection:
      'No answer: there was no connection to the receiver, or it broke. It may be down, or its certificate invalid.',
    timeout: `The receiver did not answer within ${responseMs / 1000} s.`,
    aborted: 'The request was stopped before the receiver answered.',
  }[kind];
  return { kind, status: null, error };
}
