import { parseJson } from '../../egress/json.ts';

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
