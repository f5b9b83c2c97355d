import type { IncomingHttpHeaders } from 'node:http';
import type { Fault } from '../egress/provider-error.ts';
import type { ErrorCode } from './client.ts';
import { maskSecrets, type Secrets } from './mask-secrets.ts';

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

/** What a fault means (decisions §5 `errorCode`, §7). `timeoutMs`: the deadline of the call. Never throws. */
export function failureOf(fault: Fault, secrets: Secrets, timeoutMs: number): Failure {
  switch (fault.kind) {
    case 'refused':
      return refusal(fault, secrets);
    case 'oversize':
      return failure('PROVIDER_ERROR', 'The answer of the provider is larger than 16 MiB.', true);
    case 'broken': {
      const lead = fault.sent ? 'The connection to the provider broke off' : 'The provider could not be reached';
      return failure('PROVIDER_UNAVAILABLE', `${lead} (${fault.reason}).`, fault.sent);
    }
    case 'late':
      return failure('TIMEOUT', `The provider did not answer within ${timeoutMs / 1000} s.`, fault.sent);
    case 'interrupted':
      return interrupted(fault.sent);
    case 'unusable':
      // The provider answered 2xx, so it may have been billed: a repeat could be billed twice.
      return failure('PROVIDER_ERROR', messageOf(LEADS.PROVIDER_ERROR, wordsOf(fault.body).message, secrets), true);
    case 'told':
      return toldFailure(fault.event, secrets);
  }
}

function toldFailure(event: unknown, secrets: Secrets): Failure {
  const { message, kind } = wordsIn(event);
  const words = `${kind} ${maskSecrets(message, secrets, MAX_MESSAGE)}`;
  const status = Number(/(?<!\S)[45]\d\d(?!\S)/.exec(kind)?.[0]);
  const errorCode = status ? codeOfStatus(status, words) : codeOfWords(words);
  return failure(errorCode, messageOf(LEADS[errorCode], message, secrets));
}

function refusal(fault: Fault & { kind: 'refused' }, secrets: Secrets): Failure {
  const words = wordsOf(fault.body);
  const errorCode = codeOfStatus(fault.status, `${words.kind} ${maskSecrets(words.message, secrets, MAX_MESSAGE)}`);
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
  if (/authentication_error|permission_error/.test(words)) return 'AUTHENTICATION_FAILED';
  if (/invalid_request_error|not_found_error|request_too_large/.test(words)) return 'INVALID_REQUEST';
  return /overload|unavailable|server[_ ]error|api_error/i.test(words) ? 'PROVIDER_UNAVAILABLE' : 'PROVIDER_ERROR';
}

/** The provider's own words in a body, whatever of the usual shapes it has; empty for a page of HTML. */
export function wordsOf(body: string): Words {
  try {
    return wordsIn(JSON.parse(body));
  } catch {
    return { message: /^\s*[<{[]/.test(body) ? '' : body, kind: '', parameter: '' };
  }
}

interface Words {
  message: string;
  kind: string;
  parameter: string;
}

function wordsIn(parsed: unknown): Words {
  const text = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
  const fields = (value: unknown) => (value && typeof value === 'object' ? (value as Record<string, unknown>) : {});
  // Google wraps its errors in a list.
  const outer = fields(Array.isArray(parsed) ? parsed[0] : parsed);
  // vLLM and Mistral do not wrap theirs.
  const inner = fields(outer.error ?? outer);
  const message =
    [inner.message, outer.error, outer.message, outer.detail, fields(fields(outer.detail)[0]).msg]
      .map(text)
      .find(Boolean) ?? '';
  return { message, kind: [inner.type, inner.code, inner.status].map(text).join(' '), parameter: text(inner.param) };
}

function messageOf(lead: string, detail: string, secrets: Secrets): string {
  const shown = maskSecrets(detail, secrets, MAX_MESSAGE - lead.length - 2);
  return shown ? `${lead}: ${shown}` : `${lead}.`;
}

/** In milliseconds, an hour at most. A date counts from the answer's own date, so that no clock has to be right. */
function retryAfterMs(headers: IncomingHttpHeaders): number | null {
  const given = headers['retry-after']?.trim() ?? '';
  const exact = String(headers['retry-after-ms'] ?? '').trim();
  let wait = Number.NaN;
  if (/^\d+(\.\d+)?$/.test(exact)) wait = Number(exact);
  else if (/^\d+(\.\d+)?$/.test(given)) wait = Number(given) * 1000;
  else if (/ GMT$/.test(given)) wait = Date.parse(given) - Date.parse(headers.date ?? '');
  return Number.isNaN(wait) ? null : Math.min(Math.max(Math.round(wait), 0), MAX_RETRY_AFTER_MS);
}
