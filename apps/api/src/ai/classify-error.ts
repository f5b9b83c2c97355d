import type { ERROR_CODES } from '@carillon/db';

type ErrorCode = (typeof ERROR_CODES)[number];

const NO_CREDIT = /insufficient[_ ](?:quota|credit|balance|funds)|credit balance|billing/i;
const FILTERED = /content[_ -]?(?:filter|policy|management)|ResponsibleAI|moderation|flagged/i;

/** The code of an error by its HTTP status; `words` are its type and message. */
export function classifyStatus(status: number, words: string): ErrorCode {
  if (status >= 500) return 'PROVIDER_UNAVAILABLE';
  if (status < 400) return 'PROVIDER_ERROR';
  if (status === 408) return 'TIMEOUT';
  if (status === 401) return 'AUTHENTICATION_FAILED';
  if (status === 402 || NO_CREDIT.test(words)) return 'QUOTA_EXCEEDED';
  if (status === 429) return 'RATE_LIMIT_EXCEEDED';
  if (FILTERED.test(words)) return 'CONTENT_FILTERED';
  return status === 403 ? 'AUTHENTICATION_FAILED' : 'INVALID_REQUEST';
}

const CODES_BY_WORDS: [words: RegExp, errorCode: ErrorCode][] = [
  [NO_CREDIT, 'QUOTA_EXCEEDED'],
  [FILTERED, 'CONTENT_FILTERED'],
  [/rate[_ -]?limit|too[_ ]many[_ ]requests|resource_exhausted/i, 'RATE_LIMIT_EXCEEDED'],
  [/overload|unavailable|server[_ ]error|api_error/i, 'PROVIDER_UNAVAILABLE'],
  [/authentication|permission[_ ]|unauthorized|unauthenticated|invalid[_ ]api[_ ]key/i, 'AUTHENTICATION_FAILED'],
  [/time[d]?[_ -]?out|deadline_exceeded/i, 'TIMEOUT'],
  [/invalid[_ ](?:request|argument)|not[_ ]found|context[_ ]length|request_too_large/i, 'INVALID_REQUEST'],
];

/** The code of an error inside a 2xx response. What names no cause has not been answered. */
export function classifyReported(type: string, message: string): ErrorCode {
  const status = Number(/(?<!\S)[45]\d\d(?!\S)/.exec(type)?.[0]);
  if (status) return classifyStatus(status, `${type} ${message}`);
  for (const words of [type, message]) {
    const found = CODES_BY_WORDS.find(([pattern]) => pattern.test(words));
    if (found) return found[1];
  }
  return 'PROVIDER_UNAVAILABLE';
}
