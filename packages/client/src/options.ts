export interface ClientOptions {
  /** The URL of the installation, for example `https://carillon.example.com`. */
  baseUrl: string;
  /** An API key, or the token of a session. Without it, a browser sends the session cookie of the same origin. */
  apiKey?: string | undefined;
  /** The longest time for one attempt, in milliseconds. Default: 60,000. */
  timeoutMs?: number | undefined;
  /** How often a failed request is repeated at most. Default: 3. */
  maxRetries?: number | undefined;
  /** Headers of every request, for example `X-Admin-Key`. */
  headers?: Record<string, string> | undefined;
  /** Replaces the global `fetch`, for example to use a proxy. */
  fetch?: typeof fetch | undefined;
}

export interface RequestOptions {
  /** Ends the request, and the wait before a repetition. */
  signal?: AbortSignal | undefined;
  /** Default: the value of the client. */
  timeoutMs?: number | undefined;
  /** Default: the value of the client. */
  maxRetries?: number | undefined;
  headers?: Record<string, string> | undefined;
}

export interface PostOptions extends RequestOptions {
  /** The same for all attempts. Default: a random one. */
  idempotencyKey?: string | undefined;
}

export interface ChangeOptions extends RequestOptions {
  /** The ETag that the resource must still have; else the request is a `PreconditionFailedError`. */
  ifMatch?: string | undefined;
}

/** The settings of a client, checked and with defaults. */
export interface Settings {
  baseUrl: string;
  timeoutMs: number;
  maxRetries: number;
  fetch: typeof fetch;
  headers: Record<string, string>;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_RETRIES = 3;

/** Throws a `TypeError` that names an invalid option, without its value: it may be a key. */
export function readSettings(options: ClientOptions): Settings {
  const { apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, maxRetries = DEFAULT_MAX_RETRIES, headers = {} } = options;
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be visible ASCII characters without spaces.');
  }
  const givenFetch = options.fetch;
  return {
    baseUrl: readBaseUrl(options.baseUrl),
    timeoutMs: readTimeout(timeoutMs),
    maxRetries: readRetries(maxRetries),
    // Browsers require that the global function is called without another `this`.
    fetch: givenFetch ? (input, init) => givenFetch(input, init) : (input, init) => globalThis.fetch(input, init),
    headers: apiKey === undefined ? headers : { ...headers, authorization: `Bearer ${apiKey}` },
  };
}

function readBaseUrl(text: string): string {
  let url: URL | undefined;
  try {
    url = new URL(text);
  } catch {
    // Reported below.
  }
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username || url.password) {
    throw new TypeError(
      'baseUrl must be a URL that begins with http:// or https://, without user, query and fragment.',
    );
  }
  return url.href.replace(/\/+$/, '');
}

export function readTimeout(ms: number): number {
  if (typeof ms === 'number' && ms > 0) return ms;
  throw new TypeError('timeoutMs must be a number of milliseconds above 0.');
}

export function readRetries(count: number): number {
  if (typeof count === 'number' && count >= 0) return count;
  throw new TypeError('maxRetries must be a number from 0.');
}
