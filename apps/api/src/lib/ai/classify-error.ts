import type { ERROR_CODES } from '@carillon/db';
import { parseJson } from '../egress/exchange.ts';

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

const UNKNOWN_MODEL = new RegExp(
  [
    'model[_ -]?not[_ -]?(?:found|exist)|deployment[_ ]?not[_ ]?found|no endpoints found for|模型不存在',
    String.raw`\b(?:models?|deployment)\b.{0,160}\b(?:not found|not exist|not available|no longer available|decommissioned|retired|not a valid model)`,
    String.raw`(?:invalid|unknown|no such|non-?existent) model\b(?! ?(?:param|argument|setting))|not a valid model`,
    String.raw`(?:doesn't|does not) exist.{0,40}\bmodel\b`,
  ].join('|'),
  'i',
);
/** With 404, such as Anthropic's `model: claude-1`. */
const NAMES_MODEL = /\bmodel\b/i;

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
  if (UNKNOWN_MODEL.test(words) || (status === 404 && NAMES_MODEL.test(words) && !/support/i.test(words))) {
    return 'UNKNOWN_MODEL';
  }
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
  [UNKNOWN_MODEL, 'UNKNOWN_MODEL'],
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

export interface ErrorWords {
  message: string;
  type: string;
  parameter: string;
}

const MAX_DEPTH = 6;
/** The fields that hold a message or a further error, in any letter case. The first one with words counts. */
const MESSAGES = [
  ...['errors', 'fault', 'response', 'body', 'message', 'msg', 'detail', 'details', 'error_message'],
  ...[
    'error_msg',
    'errormessage',
    'error_description',
    'status_msg',
    'faultstring',
    'base_resp',
    'description',
    'title',
  ],
];
const TYPES = ['type', 'code', 'status', 'statuscode', 'reason', '__type', 'error_code'];
const PARAMETERS = ['param', 'parameter', 'loc'];
const QUOTING = /^provider returned error/i;

/** Reads the words of an error in any of the usual shapes: nested, in lists, or as JSON in a text. */
export function readErrorWords(error: unknown, depth = 0): ErrorWords {
  const none = { message: '', type: '', parameter: '' };
  if (depth > MAX_DEPTH) return none;
  if (typeof error === 'string') {
    const quoted = /^\s*[{[]/.test(error) ? parseJson(error) : undefined;
    return quoted === undefined ? { ...none, message: error.trim() } : readErrorWords(quoted, depth + 1);
  }
  if (typeof error !== 'object' || error === null) return none;
  if (Array.isArray(error)) {
    return error.map((one) => readErrorWords(one, depth + 1)).find(({ message }) => message !== '') ?? none;
  }
  const fields = new Map(Object.entries(error).map(([name, value]) => [name.toLowerCase(), value]));
  const inner = fields.get('error');
  const holders = [typeof inner === 'object' ? inner : null, ...MESSAGES.map((name) => fields.get(name)), inner];
  const words = holders.map((holder) => readErrorWords(holder, depth + 1));
  const found = words.find(({ message }) => message !== '') ?? words.find(({ type }) => type !== '') ?? none;
  const raw = QUOTING.test(found.message) ? readErrorWords(fields.get('metadata')?.raw, depth + 1) : none;
  const { message, type, parameter } = raw.message === '' ? found : raw;
  return {
    message,
    type: [type, ...TYPES.map((name) => toWord(fields.get(name)))].filter(Boolean).join(' '),
    parameter: parameter || PARAMETERS.map((name) => toParameter(fields.get(name))).find(Boolean) || '',
  };
}

const toWord = (value: unknown) => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

const toParameter = (value: unknown) => {
  const path = (Array.isArray(value) ? value : [value]).map(toWord).join('.');
  return /^(?:none|null)$/i.test(path) ? '' : path;
};
