import { ApiError, buildApiError, ConnectionError, InvalidResponseError, TimeoutError } from './errors.ts';
import { type ChangeOptions, type PostOptions, readRetries, readTimeout, type Settings } from './options.ts';
import { backoffMs, openDeadline, parseRetryAfter, sleep } from './waiting.ts';

/** A server that asks for a longer wait is not asked again. */
const MAX_RETRY_AFTER_MS = 60_000;
/** The same request may succeed later. */
export const TEMPORARY_STATUSES: readonly number[] = [408, 429, 502, 503, 504];
const IDEMPOTENT = ['GET', 'HEAD', 'PUT', 'DELETE'];

export type Query = object;

export interface Request {
  method: string;
  /** Below `baseUrl`. */
  path: string;
  query?: Query | undefined;
  /** JSON, unless it is `FormData`. */
  body?: unknown;
  /** Whether the operation takes an `Idempotency-Key`. */
  takesKey?: boolean | undefined;
  accept?: string | undefined;
  options?: (PostOptions & ChangeOptions) | undefined;
}

/** A response without its body. */
export interface Head {
  status: number;
  headers: Headers;
  requestId: string | null;
  etag: string | null;
}

export interface Answer<Body> extends Head {
  body: Body;
}

/** Sends a request, repeats it while that is safe and may help, and returns the response. */
export async function sendRequest<Body>(settings: Settings, request: Request): Promise<Answer<Body>> {
  const { signal, maxRetries: given = settings.maxRetries, idempotencyKey } = request.options ?? {};
  const maxRetries = readRetries(given);
  const key = idempotencyKey ?? (request.takesKey && maxRetries > 0 ? createKey() : undefined);
  const mayRepeat = IDEMPOTENT.includes(request.method) || key !== undefined;
  for (let attempt = 0; ; attempt++) {
    try {
      return await attemptRequest<Body>(settings, request, key);
    } catch (error) {
      const delay = attempt < maxRetries && mayRepeat ? findDelay(error, attempt) : null;
      if (delay === null || signal?.aborted) throw error;
      await sleep(delay, signal);
    }
  }
}

/** How long to wait before the request is repeated; null if that cannot help. */
export function findDelay(error: unknown, attempt: number): number | null {
  if (isNetworkError(error)) return backoffMs(attempt);
  if (!(error instanceof ApiError)) return null;
  const { status, code, retryAfterMs } = error;
  // 409 with a time: the first attempt with this key still runs.
  if (!TEMPORARY_STATUSES.includes(status) && !(status === 409 && retryAfterMs !== null)) return null;
  if (code === 'AI_PROVIDER_FAILED' && retryAfterMs === null) return null;
  if (retryAfterMs !== null && retryAfterMs > MAX_RETRY_AFTER_MS) return null;
  return Math.max(retryAfterMs ?? 0, backoffMs(attempt));
}

export const isNetworkError = (error: unknown): boolean =>
  error instanceof ConnectionError || error instanceof TimeoutError;

async function attemptRequest<Body>(settings: Settings, request: Request, key?: string): Promise<Answer<Body>> {
  const { method, path, options: { timeoutMs = settings.timeoutMs, signal } = {} } = request;
  const name = `${method} ${path}`;
  const deadline = openDeadline(readTimeout(timeoutMs), signal, `${name} was not answered`);
  try {
    const response = await openResponse(settings, request, deadline, key);
    const text = await deadline.guard(response.text()).catch((error) => {
      throw deadline.signal.aborted
        ? error
        : new ConnectionError(`The response to ${name} was cut off.`, { cause: error });
    });
    const body = parseJson(text);
    if (body === undefined && text !== '') throw describeInvalid(name, response, 'that is not JSON');
    return { ...readHead(response), body: body as Body };
  } finally {
    deadline.close();
  }
}

interface Guard {
  signal: AbortSignal;
  guard<T>(work: Promise<T>): Promise<T>;
}

/** Sends one request and returns its response if that is 2xx, with an unread body. */
export async function openResponse(
  { fetch, baseUrl, headers }: Settings,
  { method, path, query, body, accept = 'application/json', options = {} }: Request,
  { signal, guard }: Guard,
  key?: string,
): Promise<Response> {
  const name = `${method} ${path}`;
  const isForm = body instanceof FormData;
  const response = await guard(
    fetch(`${baseUrl}${path}${formatQuery(query)}`, {
      method,
      headers: {
        accept,
        ...headers,
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(options.ifMatch !== undefined && { 'if-match': options.ifMatch }),
        ...options.headers,
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
      // Another host must not get the key, nor the body.
      redirect: 'manual',
      signal,
    }),
  ).catch((error) => {
    throw signal.aborted ? error : new ConnectionError(`${name} could not be sent.`, { cause: error });
  });
  if (response.ok) return response;
  const { status, type } = response;
  if (type === 'opaqueredirect' || (status >= 300 && status < 400 && status !== 304)) {
    throw describeInvalid(name, response, 'with a redirect, which is not followed: check baseUrl');
  }
  const text = await guard(response.text()).catch((error) => {
    if (signal.aborted) throw error;
    return '';
  });
  const retryAfterMs = parseRetryAfter(response.headers.get('retry-after'));
  const code = response.headers.get('x-error-code');
  throw buildApiError(parseJson(text), { ...readHead(response), code, retryAfterMs });
}

export const describeInvalid = (name: string, { status }: Response, what: string) =>
  new InvalidResponseError(`${name} was answered ${status} ${what}.`);

export const readHead = ({ status, headers }: Response): Head => ({
  status,
  headers,
  requestId: headers.get('x-request-id'),
  etag: headers.get('etag'),
});

/** Undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function formatQuery(query: Query = {}): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) text.set(name, String(value));
  }
  return text.size === 0 ? '' : `?${text}`;
}

/** Not `randomUUID`, which browsers have on secure pages only. */
const createKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Encodes a part of a path. Throws for one that would change the path. */
export function segment(value: string | number): string {
  const text = String(value);
  if (['', '.', '..', 'undefined', 'null', 'NaN'].includes(text))
    throw new TypeError(`${JSON.stringify(text)} is not an id.`);
  return encodeURIComponent(text);
}
