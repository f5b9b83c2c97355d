import type { IncomingHttpHeaders } from 'node:http';
import { toStorableText } from '@carillon/contract/validation/unsafe-values';
import type { Dispatcher } from 'undici';

export interface ExchangeRequest {
  /** Default: the origin of the dispatcher. */
  origin?: string;
  path: string;
  method: 'GET' | 'POST';
  headers: Readonly<Record<string, string>>;
  body?: Buffer | string;
  signals?: readonly AbortSignal[];
  /** Time to get a connection, from which `timeoutMs` then counts. Default: no own limit. */
  connectMs?: number;
  timeoutMs: number;
  maxBytes: number;
  /** Not called for interim statuses. */
  onHeaders?: (status: number, headers: IncomingHttpHeaders) => void;
  /** Returns true to read no further. */
  onData?: (chunk: Buffer) => boolean;
}

export interface ExchangeResult {
  end: 'complete' | 'stopped' | 'too_large' | 'no_connection' | 'timeout' | 'aborted' | 'failed';
  status: number | null;
  sent: boolean;
  error: Error | null;
}

const STOPPED = new Error('stopped');

/** Never rejects, follows no redirects and decompresses nothing. */
export function exchange(dispatcher: Dispatcher, request: ExchangeRequest): Promise<ExchangeResult> {
  const { origin, path, method, headers, body = null, signals = [], connectMs, timeoutMs, maxBytes } = request;
  const { promise, resolve } = Promise.withResolvers<ExchangeResult>();
  let controller: Dispatcher.DispatchController | null = null;
  let status: number | null = null;
  let sent = false;
  let bytes = 0;
  let ended = false;
  let timer: NodeJS.Timeout | undefined;

  const finish = (end: ExchangeResult['end'], error: Error | null = null) => {
    if (ended) return;
    ended = true;
    clearTimeout(timer);
    for (const signal of signals) signal.removeEventListener('abort', abort);
    resolve({ end, status, sent, error });
  };
  const stop = (end: ExchangeResult['end']) => {
    finish(end);
    controller?.abort(STOPPED);
  };
  const abort = () => stop('aborted');

  if (signals.some(({ aborted }) => aborted)) {
    finish('aborted');
    return promise;
  }
  for (const signal of signals) signal.addEventListener('abort', abort);
  timer =
    connectMs === undefined ? setTimeout(stop, timeoutMs, 'timeout') : setTimeout(stop, connectMs, 'no_connection');

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(started) {
      controller = started;
      // undici starts a request even if it ended while it waited for a connection.
      if (ended) return started.abort(STOPPED);
      if (connectMs === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(stop, timeoutMs, 'timeout');
    },
    onBodySent() {
      sent = true;
    },
    onResponseStart(_, received, responseHeaders) {
      if (received < 200 || ended) return;
      status = received;
      request.onHeaders?.(received, responseHeaders);
    },
    onResponseData(_, chunk) {
      if (ended) return;
      bytes += chunk.length;
      if (bytes > maxBytes) stop('too_large');
      else if (request.onData?.(chunk)) stop('stopped');
    },
    onResponseEnd: () => finish('complete'),
    onResponseError: (_, error) => finish('failed', error),
  };
  dispatcher.dispatch({ ...(origin !== undefined && { origin }), path, method, headers, body }, handler);
  return promise;
}

const MAX_TEXT = 500;

export type JsonObject = Record<string, unknown>;

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const toObject = (value: unknown): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

export const toArray = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

export const toText = (value: unknown): string | null =>
  (typeof value === 'string' && toStorableText(value, MAX_TEXT).trim()) || null;
