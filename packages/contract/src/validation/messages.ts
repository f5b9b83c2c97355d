import type { ErrorObject } from 'ajv';
import { PASSWORD_CHARACTERS, Password } from '../primitives.ts';
import { FORMATS } from './formats.ts';

/** The keyword of a schema whose type is often mistaken: a hint for the message. */
export const TYPE_HINT = 'x-type-hint';
/** The keyword of a text whose ends are trimmed before its length is checked. */
export const TRIM = 'x-trim';
/** The keyword of a number that is cut to a maximum instead of rejected. */
export const CAP = 'x-cap';

const TYPE_NAMES: Record<string, string> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'a boolean',
  object: 'an object',
  array: 'an array',
  null: 'null',
};

const PATTERN_MESSAGES: Record<string, string> = {
  '\\S': 'must not be blank',
  '^\\S+$': 'must not contain spaces',
  '^[\\x21-\\x7e]+$': 'must be printable ASCII characters without spaces',
  '^[a-z][a-z0-9_]{0,31}$': 'must begin with a small letter, and have at most 32 small letters, digits and _',
  '^[\\w-]+$': 'must consist of the letters A to Z, digits, - and _',
};

const pluralize = (count: number, noun: string) => `${count} ${count === 1 ? noun : `${noun}s`}`;

/** The messages of a validation error, for users: one, except for what a password lacks. */
export function toErrorMessages(error: ErrorObject): string[] {
  if (error.keyword !== 'pattern' || error.params.pattern !== Password.pattern) return [toErrorMessage(error)];
  return Object.entries(PASSWORD_CHARACTERS).flatMap(([range, message]) =>
    new RegExp(`[${range}]`, 'u').test(String(error.data)) ? [] : [message],
  );
}

function toErrorMessage({ keyword, params, message, parentSchema }: ErrorObject): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'type':
      return `must be ${[params.type].flat().map(nameType).join(' or ')}${toHint(parentSchema?.[TYPE_HINT])}`;
    case 'enum':
      return `must be one of ${params.allowedValues.map(String).join(', ')}`;
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must be at least ${pluralize(params.limit, 'character')}`;
    case 'maxLength':
      return `must be at most ${pluralize(params.limit, 'character')}`;
    case 'minItems':
      return `must have at least ${pluralize(params.limit, 'item')}`;
    case 'maxItems':
      return `must have at most ${pluralize(params.limit, 'item')}`;
    case 'minimum':
      return `must be at least ${params.limit}`;
    case 'maximum':
      return `must be at most ${params.limit}`;
    case 'pattern':
      return PATTERN_MESSAGES[params.pattern] ?? 'has the wrong form';
    case 'format':
      return FORMATS[params.format]?.message ?? 'has the wrong form';
    default:
      return message ?? 'is not valid';
  }
}

const toHint = (hint: string | undefined) => (hint === undefined ? '' : `: ${hint}`);
const nameType = (type: string) => TYPE_NAMES[type] ?? type;
