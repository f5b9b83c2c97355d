import { AISDKError } from 'ai';
import type { ErrorCode } from './ai.ts';
import { type Fault, ProviderFault } from './provider-http.ts';
import { type Secrets, shownText } from './stored-text.ts';

const MAX_MESSAGE = 500;
const MAX_RETRY_AFTER_MS = 3_600_000;

/** A call that failed, and whether it may be billed all the same. */
export interface Failure {
  errorCode: ErrorCode;
  /** For the user: at most 500 characters, without keys, headers or the prompt. */
  message: string;
  retryable: boolean;
  retryAfterMs: number | null;
  sent: boolean;
}

/** Carries what had come of a streamed answer, which may be billed, beside what ended it. */
export class CutShort extends Error {
  readonly written: string;
  constructor(written: string, cause: unknown) {
    super('A streamed answer was cut short', { cause });
    this.written = written;
  }
}

type ProviderCode = Exclude<ErrorCode, 'INTERRUPTED'>;

const LEADS: Record<ProviderCode, string> = {
  RATE_LIMIT_EXCEEDED: 'The provider limits how often it may be asked',
  QUOTA_EXCEEDED: "The provider account's quota or credit is used up",
  TIMEOUT: 'The provider gave up waiting',
  PROVIDER_UNAVAILABLE: 'The provider is unavailable',
  AUTHENTICATION_FAILED: 'The provider refused the API key',
  CONTENT_FILTERED: "The provider's content filter refused the request",
  INVALID_REQUEST: 'The provider refused the request',
  PROVIDER_ERROR: 'The answer of the provider could not be used',
};
const RETRYABLE: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMIT_EXCEEDED',
  'TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'INTERRUPTED',
]);

/** A failure of our own finding. `sent`: the request has left. */
export const failure = (errorCode: ErrorCode, message: string, sent = false): Failure => ({
  errorCode,
  message,
  retryable: RETRYABLE.has(errorCode),
  retryAfterMs: null,
  sent,
});

/** A call that its caller, or the end of the process, has stopped. */
export const interrupted = (sent = false): Failure => failure('INTERRUPTED', 'The run was aborted.', sent);

/** What the SDK finds wrong with a request before it sends it. */
const UNSENT = new Set(['AI_InvalidArgumentError', 'AI_InvalidPromptError', 'AI_UnsupportedFunctionalityError']);

/** What an error of a call means (decisions §5 `errorCode`, §7). Never throws. */
export function failureOf(error: unknown, secrets: Secrets): Failure {
  if (error instanceof CutShort) return { ...failureOf(error.cause, secrets), sent: true };
  const fault = findFault(error);
  if (fault) return failureOfFault(fault, secrets);
  if (AISDKError.isInstance(error) && UNSENT.has(error.name)) {
    return failure('INVALID_REQUEST', 'The request has a part that this provider cannot be given.');
  }
  const refused = refusalInStream(error, secrets);
  if (refused) return refused;
  // The provider answered 2xx, so it may have been billed: a repeat could be billed twice.
  const body = error instanceof Error && 'responseBody' in error ? String(error.responseBody ?? '') : '';
  return failure('PROVIDER_ERROR', messageOf(LEADS.PROVIDER_ERROR, wordsOf(body).message, secrets), true);
}

/** The fault behind an error: the SDK wraps what ends a body. */
function findFault(error: unknown): Fault | null {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof ProviderFault) return at.fault;
  return null;
}

/** A refusal that came as an event of a stream which had begun with 200. */
function refusalInStream(error: unknown, secrets: Secrets): Failure | null {
  if (!AISDKError.isInstance(error)) return null;
  const { statusCode, type, code } = error as { statusCode?: unknown; type?: unknown; code?: unknown };
  const hasStatus = typeof statusCode === 'number' && statusCode >= 400;
  if (!hasStatus && error.name !== 'AI_StreamProviderError') return null;
  const words = `${type ?? ''} ${code ?? ''} ${shownText(error.message, secrets, MAX_MESSAGE)}`;
  const errorCode = hasStatus ? codeOfStatus(statusCode, words) : codeOfWords(words);
  return failure(errorCode, messageOf(LEADS[errorCode], error.message, secrets));
}

function failureOfFault(fault: Fault, secrets: Secrets): Failure {
  switch (fault.kind) {
    case 'refused':
      return refusal(fault, secrets);
    case 'oversize':
      return failure('PROVIDER_ERROR', 'The answer of the provider is larger than 16 MiB.', true);
    case 'broken': {
      const lead = fault.sent ? 'The connection to the provider broke off' : 'The provider could not be reached';
      return failure('PROVIDER_UNAVAILABLE', `${lead} (${fault.reason}).`, fault.sent);
    }
    case 'stopped':
      return interrupted(fault.sent);
  }
}

function refusal(fault: Fault & { kind: 'refused' }, secrets: Secrets): Failure {
  const words = wordsOf(fault.body);
  const errorCode = codeOfStatus(fault.status, `${words.kind} ${shownText(words.message, secrets, MAX_MESSAGE)}`);
  const lead = fault.status < 400 ? 'The provider answered with a redirect, which is not followed' : LEADS[errorCode];
  return {
    ...failure(errorCode, messageOf(`${lead} (${fault.status})`, words.message, secrets)),
    retryAfterMs: RETRYABLE.has(errorCode) ? retryAfterMs(fault.headers) : null,
  };
}

const NO_CREDIT = /insufficient[_ ](?:quota|credit|balance|funds)|credit balance|billing/i;
const FILTERED = /content[_ -]?(?:filter|policy|management)|ResponsibleAI|moderation|flagged/i;

function codeOfStatus(status: number, words: string): ProviderCode {
  if (status >= 500) return 'PROVIDER_UNAVAILABLE';
  if (status < 400) return 'PROVIDER_ERROR';
  if (status === 408) return 'TIMEOUT';
  if (status === 401) return 'AUTHENTICATION_FAILED';
  if (status === 402 || NO_CREDIT.test(words)) return 'QUOTA_EXCEEDED';
  if (status === 429) return 'RATE_LIMIT_EXCEEDED';
  if (FILTERED.test(words)) return 'CONTENT_FILTERED';
  return status === 403 ? 'AUTHENTICATION_FAILED' : 'INVALID_REQUEST';
}

/** Events of a stream often tell no status. */
function codeOfWords(words: string): ProviderCode {
  if (NO_CREDIT.test(words)) return 'QUOTA_EXCEEDED';
  if (FILTERED.test(words)) return 'CONTENT_FILTERED';
  if (/rate[_ -]?limit/i.test(words)) return 'RATE_LIMIT_EXCEEDED';
  return /overload|unavailable|server[_ ]error|api_error/i.test(words) ? 'PROVIDER_UNAVAILABLE' : 'PROVIDER_ERROR';
}

/** The provider's own words in a body, whatever of the usual shapes it has; empty for a page of HTML. */
export function wordsOf(body: string): { message: string; kind: string; parameter: string } {
  const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  const fields = (value: unknown) => (value && typeof value === 'object' ? (value as Record<string, unknown>) : {});
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return { message: /^\s*[<{[]/.test(body) ? '' : body, kind: '', parameter: '' };
  }
  // Google wraps its errors in a list.
  const outer = fields(Array.isArray(parsed) ? parsed[0] : parsed);
  const inner = fields(outer.error);
  const message =
    [inner.message, outer.error, outer.message, outer.detail, fields(fields(outer.detail)[0]).msg]
      .map(text)
      .find(Boolean) ?? '';
  return { message, kind: [inner.type, inner.code, inner.status].map(text).join(' '), parameter: text(inner.param) };
}

function messageOf(lead: string, detail: string, secrets: Secrets): string {
  const shown = shownText(detail, secrets, MAX_MESSAGE - lead.length - 2);
  return shown ? `${lead}: ${shown}` : `${lead}.`;
}

/** In milliseconds, an hour at most. A date counts from the answer's own date, so that no clock has to be right. */
function retryAfterMs(headers: Readonly<Record<string, string>>): number | null {
  const given = headers['retry-after']?.trim() ?? '';
  const exact = headers['retry-after-ms']?.trim() ?? '';
  let wait = Number.NaN;
  if (/^\d+(\.\d+)?$/.test(exact)) wait = Number(exact);
  else if (/^\d+(\.\d+)?$/.test(given)) wait = Number(given) * 1000;
  else if (/ GMT$/.test(given)) wait = Date.parse(given) - Date.parse(headers.date ?? '');
  return Number.isNaN(wait) ? null : Math.min(Math.max(Math.round(wait), 0), MAX_RETRY_AFTER_MS);
}
