import type { Pattern } from './pattern.ts';
import { type Place, quote, type Run } from './run.ts';
import { type Check, isObject, type Keywords } from './schema-node.ts';

const TYPES: Record<string, { name: string; accepts: (value: unknown) => boolean }> = {
  string: { name: 'a string', accepts: (value) => typeof value === 'string' },
  number: { name: 'a number', accepts: (value) => typeof value === 'number' },
  integer: { name: 'an integer', accepts: Number.isInteger },
  boolean: { name: 'a boolean', accepts: (value) => typeof value === 'boolean' },
  object: { name: 'an object', accepts: isObject },
  array: { name: 'an array', accepts: Array.isArray },
  null: { name: 'null', accepts: (value) => value === null },
};
const STEPS_PER_MATCH = 50;
const STEPS_PER_KEY = 130;

type Compile = (keywords: Keywords) => Check;

/** The keywords that look at the value alone. */
export const ASSERTIONS: Record<string, Compile> = {
  type: compileType,
  enum({ schema, refuse }) {
    if (!Array.isArray(schema.enum)) return refuse('enum', 'must be an array');
    const keys = new Set(schema.enum.map(toKey));
    return (value, place, run) => keys.has(toKeyWithin(run, value)) || run.fail(place, `must be ${listKeys(keys)}`);
  },
  const({ schema }) {
    const key = toKey(schema.const);
    return (value, place, run) => toKeyWithin(run, value) === key || run.fail(place, `must be ${shorten(key)}`);
  },
  multipleOf({ readNumber, refuse }) {
    const factor = readNumber('multipleOf');
    if (factor <= 0) return refuse('multipleOf', 'must be more than 0');
    return ofNumbers((value, run) => {
      run.spend(50 + countDigits(value) + countDigits(factor));
      return isMultipleOf(value, factor);
    }, `must be a multiple of ${factor}`);
  },
  maximum: (keywords) => compileLimit(keywords, 'maximum', (value, limit) => value <= limit, 'at most'),
  exclusiveMaximum: (keywords) =>
    compileLimit(keywords, 'exclusiveMaximum', (value, limit) => value < limit, 'less than'),
  minimum: (keywords) => compileLimit(keywords, 'minimum', (value, limit) => value >= limit, 'at least'),
  exclusiveMinimum: (keywords) =>
    compileLimit(keywords, 'exclusiveMinimum', (value, limit) => value > limit, 'more than'),
  maxLength({ readCount }) {
    const limit = readCount('maxLength');
    return ofStrings((text, run) => !isLongerThan(text, limit, run), `must have at most ${limit} characters`);
  },
  minLength({ readCount }) {
    const limit = readCount('minLength');
    return ofStrings(
      (text, run) => limit === 0 || isLongerThan(text, limit - 1, run),
      `must have at least ${limit} characters`,
    );
  },
  pattern({ readPattern }) {
    const pattern = readPattern('pattern');
    return ofStrings(
      (text, run) => matchPattern(pattern, text, run),
      `must match the pattern ${quote(pattern.source)}`,
    );
  },
  maxItems({ readCount }) {
    const limit = readCount('maxItems');
    return ofArrays(({ length }) => length <= limit, `must have at most ${limit} items`);
  },
  minItems({ readCount }) {
    const limit = readCount('minItems');
    return ofArrays(({ length }) => length >= limit, `must have at least ${limit} items`);
  },
  uniqueItems({ schema, refuse }) {
    if (typeof schema.uniqueItems !== 'boolean') return refuse('uniqueItems', 'must be a boolean');
    if (!schema.uniqueItems) return () => true;
    return ofArrays(
      (items, run) => new Set(items.map((item) => toKeyWithin(run, item))).size === items.length,
      'must not have equal items',
    );
  },
  maxProperties({ readCount }) {
    const limit = readCount('maxProperties');
    return ofObjects((fields) => Object.keys(fields).length <= limit, `must have at most ${limit} properties`);
  },
  minProperties({ readCount }) {
    const limit = readCount('minProperties');
    return ofObjects((fields) => Object.keys(fields).length >= limit, `must have at least ${limit} properties`);
  },
  required({ readNames }) {
    const names = readNames('required');
    return (value, place, run) => !isObject(value) || requireFields(value, names, place, run);
  },
  dependentRequired({ readNameLists }) {
    const lists = readNameLists('dependentRequired');
    return (value, place, run) =>
      !isObject(value) ||
      lists.every(([name, names]) => !Object.hasOwn(value, name) || requireFields(value, names, place, run));
  },
};

/** Whether the text has a match, at the price of its worst case. */
export function matchPattern(pattern: Pattern, text: string, run: Run): boolean {
  run.spend(STEPS_PER_MATCH + text.length * pattern.instructions);
  return pattern.matches(text);
}

function compileType({ schema, refuse }: Keywords): Check {
  const names = typeof schema.type === 'string' ? [schema.type] : schema.type;
  const isKnown = (name: unknown): name is string => typeof name === 'string' && Object.hasOwn(TYPES, name);
  if (!Array.isArray(names) || names.length === 0 || !names.every(isKnown)) {
    return refuse('type', `must be one or more of ${Object.keys(TYPES).join(', ')}`);
  }
  if (new Set(names).size < names.length) return refuse('type', 'must not name a type twice');
  const types = names.flatMap((name) => TYPES[name] ?? []);
  const message = `must be ${types.map(({ name }) => name).join(' or ')}`;
  return (value, place, run) => types.some(({ accepts }) => accepts(value)) || run.fail(place, message);
}

function compileLimit(
  { readNumber }: Keywords,
  keyword: string,
  accepts: (value: number, limit: number) => boolean,
  words: string,
): Check {
  const limit = readNumber(keyword);
  return ofNumbers((value) => accepts(value, limit), `must be ${words} ${limit}`);
}

function requireFields(fields: Record<string, unknown>, names: readonly string[], place: Place, run: Run): boolean {
  run.spend(names.length);
  let isComplete = true;
  for (const name of names) {
    if (Object.hasOwn(fields, name)) continue;
    isComplete = false;
    if (run.isSilent) break;
    run.fail({ parent: place, key: name }, 'is required');
  }
  return isComplete;
}

const ofNumbers =
  (accepts: (value: number, run: Run) => boolean, message: string): Check =>
  (value, place, run) =>
    typeof value !== 'number' || accepts(value, run) || run.fail(place, message);

const ofStrings =
  (accepts: (text: string, run: Run) => boolean, message: string): Check =>
  (value, place, run) =>
    typeof value !== 'string' || accepts(value, run) || run.fail(place, message);

const ofArrays =
  (accepts: (items: unknown[], run: Run) => boolean, message: string): Check =>
  (value, place, run) =>
    !Array.isArray(value) || accepts(value, run) || run.fail(place, message);

const ofObjects =
  (accepts: (fields: Record<string, unknown>, run: Run) => boolean, message: string): Check =>
  (value, place, run) =>
    !isObject(value) || accepts(value, run) || run.fail(place, message);

function toKeyWithin(run: Run, value: unknown): string {
  const key = toKey(value);
  run.spend(STEPS_PER_KEY + 2 * key.length);
  return key;
}

/** Counts characters, which have one or two code units. */
function isLongerThan(text: string, limit: number, run: Run): boolean {
  if (text.length <= limit) return false;
  if (text.length > 2 * limit) return true;
  run.spend(text.length);
  let characters = 0;
  for (const _ of text) characters++;
  return characters > limit;
}

const MAX_SHOWN = 100;
const shorten = (key: string) => (key.length > MAX_SHOWN ? `${key.slice(0, MAX_SHOWN - 1).toWellFormed()}…` : key);
const listKeys = (keys: ReadonlySet<string>) =>
  keys.size === 1 ? shorten([...keys].join()) : `one of ${shorten([...keys].join(', '))}`;

/** Equal values have equal keys, whatever the order of their fields. */
export function toKey(value: unknown): string {
  // Minus zero equals zero.
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toKey).join()}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toKey(field)}`).join()}}`;
}

/** Compares decimals, since 0.3 divided by 0.1 is not 3 in binary. */
function isMultipleOf(value: number, factor: number): boolean {
  const [a, aExponent] = toDecimal(value);
  const [b, bExponent] = toDecimal(factor);
  const exponent = Math.min(aExponent, bExponent);
  return scale(a, aExponent - exponent) % scale(b, bExponent - exponent) === 0n;
}

/** The order of magnitude, up or down. */
const countDigits = (value: number) => (value === 0 ? 0 : Math.abs(Math.log10(Math.abs(value))));

const scale = (digits: bigint, exponent: number) => digits * 10n ** BigInt(exponent);

/** The value is the first number times ten to the power of the second. */
function toDecimal(value: number): [digits: bigint, exponent: number] {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
