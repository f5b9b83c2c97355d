import type { Static, TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type FuncKeywordDefinition, type Options, type ValidateFunction } from 'ajv';
import { FORMATS } from './formats.ts';
import { CAP, TRIM, TYPE_HINT, toErrorMessages } from './messages.ts';
import { locateError } from './unsafe-values.ts';

export { findUnsafeValue, toItemMessage, type UnsafeValue } from './unsafe-values.ts';

/** Messages by dotted field path, those of items under the name of their list; the `details` of a validation error. */
export type FieldErrors = Record<string, string[]>;
export type ValidationResult<T> = { ok: true; value: T } | { ok: false; details: FieldErrors };
export type Validator<T> = (value: unknown) => ValidationResult<T>;

/** A keyword that replaces a value of `type` before the keyword `before` is checked. */
const replacing = <V, P>(
  keyword: string,
  type: 'string' | 'number',
  before: string,
  replace: (value: V, parameter: P) => V,
): FuncKeywordDefinition => ({
  keyword,
  type,
  before,
  modifying: true,
  errors: false,
  validate: (
    parameter: P,
    value: V,
    _schema: unknown,
    at?: { parentData?: Record<string | number, unknown>; parentDataProperty: string | number },
  ) => {
    // The whole value is in nothing.
    if (at?.parentData) at.parentData[at.parentDataProperty] = replace(value, parameter);
    return true;
  },
});

const options: Options = {
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  // Messages depend on hints of the schema, and on the value.
  verbose: true,
  keywords: [
    TYPE_HINT,
    replacing<string, true>(TRIM, 'string', 'maxLength', (text) => text.trim()),
    replacing<number, number>(CAP, 'number', 'maximum', Math.min),
  ],
  coerceTypes: false,
  removeAdditional: false,
  formats: Object.fromEntries(Object.entries(FORMATS).map(([name, { accepts }]) => [name, accepts])),
};

const bodyAjv = once(() => new Ajv(options));
const queryAjv = once(() => new Ajv({ ...options, useDefaults: true }));

/**
 * Compiles a schema for HTTP bodies and action inputs alike. Nothing is coerced, defaulted or removed; names are
 * trimmed and limits of pages cut, in the value itself. `root` is the field name for errors of the whole value. Compiles on
 * first use: compiling all schemas takes a tenth of the start-up time.
 */
export function compileValidator<T extends TSchema>(schema: T, root = 'body'): Validator<Static<T>> {
  const validator = once(() => bodyAjv().compile<Static<T>>(schema));
  return (value) => {
    const validate = validator();
    return validate(value) ? { ok: true, value } : { ok: false, details: toFieldErrors(validate, value, root) };
  };
}

/**
 * As `compileValidator`, for the strings of a query or path: parses integers and booleans where the schema has them,
 * applies defaults and drops unknown parameters.
 */
export function compileQueryValidator<T extends TSchema>(schema: T, root = 'query'): Validator<Static<T>> {
  const validator = once(() => queryAjv().compile<Static<T>>(schema));
  const properties: [string, TSchema][] = Object.entries(schema.properties ?? {});
  return (input) => {
    const value: Record<string, unknown> = {};
    for (const [name, property] of properties) {
      const text = (input as Record<string, unknown> | null)?.[name];
      if (text !== undefined) value[name] = parseParameter(text, property);
    }
    const validate = validator();
    return validate(value) ? { ok: true, value } : { ok: false, details: toFieldErrors(validate, value, root) };
  };
}

/** Calls `create` at most once, on first use. */
function once<T extends object>(create: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= create();
    return value;
  };
}

/** Canonical decimals only, so that each number has one spelling: `01`, `+1`, `1e3`, `0x1f` and ` 7 ` are not numbers. */
function parseParameter(text: unknown, { type, [CAP]: cap }: TSchema): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' && /^(0|-?[1-9]\d*)$/.test(text)) {
    const number = Math.min(Number(text), cap ?? Number.POSITIVE_INFINITY);
    return Number.isSafeInteger(number) ? number : text;
  }
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function toFieldErrors(validate: ValidateFunction, value: unknown, root: string): FieldErrors {
  const messages = new Map<string, string[]>();
  for (const error of validate.errors ?? []) {
    for (const text of toErrorMessages(error)) {
      const { field, message } = locateError(value, toPath(error), text);
      const known = messages.get(field || root) ?? [];
      if (!known.includes(message)) messages.set(field || root, [...known, message]);
    }
  }
  return Object.fromEntries(messages);
}

function toPath({ instancePath, params }: ErrorObject): string[] {
  const names = instancePath.split('/').slice(1);
  const path = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = params.missingProperty ?? params.additionalProperty;
  return missing === undefined ? path : [...path, missing];
}
