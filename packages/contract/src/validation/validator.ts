import type { Static, TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { FORMATS } from './formats.ts';
import { toErrorMessage } from './messages.ts';
import { clipField } from './unsafe-values.ts';

export { findUnsafeValue, type UnsafeValue } from './unsafe-values.ts';

/** Messages by dotted field path: `details` of a validation error. */
export type FieldErrors = Record<string, string[]>;
export type ValidationResult<T> = { ok: true; value: T } | { ok: false; details: FieldErrors };
export type Validator<T> = (value: unknown) => ValidationResult<T>;

const options = {
  allErrors: true,
  strict: true,
  allowUnionTypes: true,
  coerceTypes: false,
  removeAdditional: false,
  formats: Object.fromEntries(Object.entries(FORMATS).map(([name, { accepts }]) => [name, accepts])),
} as const;

const bodies = once(() => new Ajv(options));
const texts = once(() => new Ajv({ ...options, useDefaults: true }));

/**
 * The one validator of both doors (decisions §4). A good value comes back as it is: nothing is coerced, filled in or
 * removed. `whole` names the value itself in `details`, for what is wrong with all of it.
 *
 * A schema is only looked at when the first value comes: all of them together are a tenth of a start.
 */
export function compileValidator<T extends TSchema>(schema: T, whole = 'body'): Validator<Static<T>> {
  const validator = once(() => bodies().compile<Static<T>>(schema));
  return (value) => {
    const validate = validator();
    return validate(value) ? { ok: true, value } : { ok: false, details: explain(validate, whole) };
  };
}

/**
 * As `compile`, for an object of texts, which is what a query string or a path is: whole numbers and `true`/`false` are
 * read where the schema wants them, defaults filled in, and parameters that it does not name left out.
 */
export function compileQueryValidator<T extends TSchema>(schema: T, whole = 'query'): Validator<Static<T>> {
  const validator = once(() => texts().compile<Static<T>>(schema));
  const properties: [string, TSchema][] = Object.entries(schema.properties ?? {});
  return (given) => {
    const value: Record<string, unknown> = {};
    for (const [name, property] of properties) {
      const text = (given as Record<string, unknown> | null)?.[name];
      if (text !== undefined) value[name] = readText(text, property.type);
    }
    const validate = validator();
    return validate(value) ? { ok: true, value } : { ok: false, details: explain(validate, whole) };
  };
}

/** What `make` makes, when it is first asked for. */
function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Plain decimals only: `1e3`, `0x1f` and ` 7 ` are no numbers to a person either. */
function readText(text: unknown, type: unknown): unknown {
  if (typeof text !== 'string') return text;
  if (type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function explain(validate: ValidateFunction, whole: string): FieldErrors {
  const messages = new Map<string, string[]>();
  for (const error of validate.errors ?? []) {
    const field = nameField(error) || whole;
    const known = messages.get(field) ?? [];
    const message = toErrorMessage(error);
    if (!known.includes(message)) messages.set(field, [...known, message]);
  }
  return Object.fromEntries(messages);
}

function nameField({ instancePath, params }: ErrorObject): string {
  const names = instancePath.split('/').slice(1);
  const path = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const missing = params.missingProperty ?? params.additionalProperty;
  return clipField((missing === undefined ? path : [...path, missing]).join('.'));
}
