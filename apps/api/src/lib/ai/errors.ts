import type { IncomingHttpHeaders } from 'node:http';
import { DAY_MS } from '@carillon/contract/primitives';
import type { ERROR_CODES } from '@carillon/db';
import { classifyReported, classifyStatus, type ErrorWords, readErrorWords } from './classify-error.ts';
import { maskSecrets, type RequestSecrets } from './mask-secrets.ts';

export type ErrorCode = (typeof ERROR_CODES)[number];

/** What ended a call other than its answer. `sent`: the request has left, so it may be billed. */
export type ProviderError =
  | { kind: 'http'; status: number; body: string; headers: IncomingHttpHeaders }
  | { kind: 'too_large' }
  | { kind: 'connection'; reason: string; sent: boolean }
  | { kind: 'timeout'; sent: boolean }
  | { kind: 'aborted'; sent: boolean }
  /** 2xx with something that is not an answer of the protocol. */
  | { kind: 'unreadable'; body: string }
  /** 2xx with the provider's error in place of an answer or of its end. */
  | { kind: 'reported'; error: unknown; headers: IncomingHttpHeaders };

export interface AiError {
  errorCode: ErrorCode;
  /** For the user: at most 500 characters, without keys, headers or the prompt. */
  message: string;
  retryable: boolean;
  retryAfterMs: number | null;
  sent: boolean;
  /** The request is the cause, so that another model would fail in the same way. */
  isOfRequest?: true;
}

const MAX_MESSAGE = 500;
const MAX_CHECKED = 4096;

const MESSAGES: Record<ErrorCode, string> = {
  RATE_LIMIT_EXCEEDED: 'The provider limits how often it may be asked',
  QUOTA_EXCEEDED: "The provider account's quota or credit is used up",
  TIMEOUT: 'The provider gave up waiting',
  PROVIDER_UNAVAILABLE: 'The provider is unavailable',
  AUTHENTICATION_FAILED: 'The provider refused the API key',
  CONTENT_FILTERED: "The provider's content filter refused the request",
  UNKNOWN_MODEL: 'The provider does not have the model',
  INVALID_REQUEST: 'The provider refused the request',
  PROVIDER_ERROR: 'The answer of the provider could not be used',
  INTERRUPTED: 'The run was aborted',
  INVALID_OUTPUT: 'The answer does not match the output schema',
  CANCELLED: 'The run was cancelled',
};
const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMIT_EXCEEDED',
  'TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'INTERRUPTED',
]);

export const createError = (errorCode: ErrorCode, message: string, sent = false): AiError => ({
  errorCode,
  message,
  retryable: RETRYABLE.has(errorCode),
  retryAfterMs: null,
  sent,
});

export const aborted = (sent = false): AiError => createError('INTERRUPTED', `${MESSAGES.INTERRUPTED}.`, sent);

export function toAiError(error: ProviderError, secrets: RequestSecrets, timeoutMs: number): AiError {
  switch (error.kind) {
    case 'http':
      return toHttpAiError(error, secrets);
    case 'too_large':
      return createError('PROVIDER_ERROR', 'The answer of the provider is larger than 16 MiB.', true);
    case 'connection': {
      const what = error.sent ? 'The connection to the provider broke off' : 'The provider could not be reached';
      return createError('PROVIDER_UNAVAILABLE', `${what} (${error.reason}).`, error.sent);
    }
    case 'timeout':
      return createError('TIMEOUT', `The provider did not answer within ${timeoutMs / 1000} s.`, error.sent);
    case 'aborted':
      return aborted(error.sent);
    case 'unreadable': {
      // The provider answered 2xx, so it may have been billed.
      const { type, message } = parseErrorBody(error.body);
      const errorCode = classifyReported(type, maskSecrets(message, secrets, MAX_MESSAGE));
      return createError(errorCode, buildMessage(MESSAGES.PROVIDER_ERROR, message, secrets), true);
    }
    case 'reported':
      return toReportedAiError(error, secrets);
  }
}

function toReportedAiError({ error, headers }: ProviderError & { kind: 'reported' }, secrets: RequestSecrets): AiError {
  const { message, type } = readErrorWords(error);
  const errorCode = classifyReported(type, maskSecrets(message, secrets, MAX_MESSAGE));
  return {
    ...createError(errorCode, buildMessage(MESSAGES[errorCode], message, secrets)),
    retryAfterMs: RETRYABLE.has(errorCode) ? readRetryAfterMs(headers) : null,
  };
}

function toHttpAiError({ status, body, headers }: ProviderError & { kind: 'http' }, secrets: RequestSecrets): AiError {
  const { message, type } = parseErrorBody(body);
  const errorCode = classifyStatus(status, `${type} ${maskSecrets(message, secrets, MAX_MESSAGE)}`);
  const what = status < 400 ? 'The provider answered with a redirect, which is not followed' : MESSAGES[errorCode];
  return {
    ...createError(errorCode, buildMessage(`${what} (${status})`, message, secrets)),
    retryAfterMs: RETRYABLE.has(errorCode) ? readRetryAfterMs(headers) : null,
  };
}

export const readProviderWords = (error: ProviderError & { kind: 'http' | 'reported' }): ErrorWords =>
  error.kind === 'http' ? parseErrorBody(error.body) : readErrorWords(error.error);

/** The provider's own message in any of the usual shapes; empty for an HTML page and for binary data. */
function parseErrorBody(body: string): ErrorWords {
  try {
    // Some services answer a request for a stream with an event.
    return readErrorWords(JSON.parse(body.replace(/^\s*(?:event:[^\n]*\n)?data:/, '')));
  } catch {
    const start = body.slice(0, MAX_CHECKED).replace(/\s/g, '');
    return { message: /^[<{[]|[\uFFFD\p{Cc}]/u.test(start) ? '' : body, type: '', parameter: '' };
  }
}

function buildMessage(what: string, detail: string, secrets: RequestSecrets): string {
  const shown = maskSecrets(detail, secrets, MAX_MESSAGE - what.length - 2);
  return shown ? `${what}: ${shown}` : `${what}.`;
}

const RESETS = ['x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens', 'ratelimit-reset'];
const UNITS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** A day at most. A date counts from the response's own date, so that no clock has to be right, if it has one. */
function readRetryAfterMs(headers: IncomingHttpHeaders): number | null {
  const read = (name: string) => String(headers[name] ?? '').trim();
  const now = Date.parse(read('date')) || performance.timeOrigin + performance.now();
  const given = read('retry-after');
  const waits = [
    toNumber(read('retry-after-ms')),
    toNumber(given) * 1000,
    / GMT$/.test(given) ? Date.parse(given) - now : toDuration(given),
    ...RESETS.filter((name) => ['', '0'].includes(read(name.replace('reset', 'remaining')))).map((name) =>
      toReset(read(name), now),
    ),
  ];
  const wait = waits.find((one) => !Number.isNaN(one));
  return wait === undefined ? null : Math.min(Math.max(Math.round(wait), 0), DAY_MS);
}

const toNumber = (text: string) => (/^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN);

function toDuration(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhd]))+$/.test(text)) return Number.NaN;
  const parts = text.matchAll(/([\d.]+)(ms|[smhd])/g);
  return [...parts].reduce((sum, [, amount, unit = '']) => sum + Number(amount) * (UNITS[unit] ?? 0), 0);
}

/** Seconds, or an instant in seconds or milliseconds. */
function toReset(text: string, now: number): number {
  const value = toNumber(text);
  if (value > 1e12) return value - now;
  return value > 1e9 ? value * 1000 - now : Number.isNaN(value) ? toDuration(text) : value * 1000;
}
