import type { ERROR_CODES } from '@carillon/db';

type ErrorCode = (typeof ERROR_CODES)[number];

const NO_CREDIT = new RegExp(
  [
    String.raw`insufficient[_ -]?(?:\w+[_ ])?(?:quota|credits?|balance|funds)|exceeded_current_quota|credit[_ ]balance|payment[_ ]required`,
    '(?:balance|credits?) (?:is|are|has been|have been) (?:too low|insufficient|exhausted|depleted|used up)',
    String.raw`not enough (?:credits?|balance|funds)|(?:used (?:all|up)|out of|no|any) (?:\w+ ){0,2}credits`,
    String.raw`billing[_ ](?:hard[_ ]limit|not[_ ]active)|spending limit|account\b.{0,60}\b(?:not active|suspended|arrears)`,
    '余额不足|欠费',
  ].join('|'),
  'i',
);
const BILLING = /billing/i;
const FILTERED = /content[_ -]?(?:filter|policy|management)|ResponsibleAI|moderation|flagged/i;

/** Addresses, which may lead to a page about billing. */
const removeUrls = (words: string) => words.replace(/\S*\w\.\w+\/\S*/g, '');

/** The code of an error by its HTTP status; `given` is its type and message. */
export function classifyStatus(status: number, given: string): ErrorCode {
  const words = removeUrls(given);
  if (status >= 500) return 'PROVIDER_UNAVAILABLE';
  if (status < 400) return 'PROVIDER_ERROR';
  if (status === 408) return 'TIMEOUT';
  if (status === 401) return 'AUTHENTICATION_FAILED';
  if (status === 402 || NO_CREDIT.test(words)) return 'QUOTA_EXCEEDED';
  // Rate limits name billing and quotas too.
  if (status === 429) return 'RATE_LIMIT_EXCEEDED';
  if (BILLING.test(words)) return 'QUOTA_EXCEEDED';
  if (FILTERED.test(words)) return 'CONTENT_FILTERED';
  return status === 403 ? 'AUTHENTICATION_FAILED' : 'INVALID_REQUEST';
}

const CODES_BY_WORDS: [words: RegExp, errorCode: ErrorCode][] = [
  [NO_CREDIT, 'QUOTA_EXCEEDED'],
  [FILTERED, 'CONTENT_FILTERED'],
  [/rate[_ -]?limit|too[_ ]?many[_ ]?requests|resource[_ ]?exhausted|throttl|quota/i, 'RATE_LIMIT_EXCEEDED'],
  [BILLING, 'QUOTA_EXCEEDED'],
  [/overload|unavailable|server[_ ]error|api_error/i, 'PROVIDER_UNAVAILABLE'],
  [/authentication|permission[_ ]|unauthorized|unauthenticated|invalid[_ ]api[_ ]key/i, 'AUTHENTICATION_FAILED'],
  [/time[d]?[_ -]?out|deadline_exceeded/i, 'TIMEOUT'],
  [/invalid[_ ](?:request|argument)|not[_ ]found|context[_ ]length|request_too_large/i, 'INVALID_REQUEST'],
];

/** The code of an error inside a 2xx response. What names no cause has not been answered. */
export function classifyReported(type: string, message: string): ErrorCode {
  const status = Number(/(?<!\S)[45]\d\d(?!\S)/.exec(type)?.[0]);
  if (status) return classifyStatus(status, `${type} ${message}`);
  for (const words of [type, message].map(removeUrls)) {
    const found = CODES_BY_WORDS.find(([pattern]) => pattern.test(words));
    if (found) return found[1];
  }
  return 'PROVIDER_UNAVAILABLE';
}
