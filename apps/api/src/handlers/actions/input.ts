import { compileValidator, type FieldErrors, findUnsafeValue } from '@carillon/contract';
import { isUuid, parseId } from '@carillon/contract/validation/formats';
import type { Static, TSchema } from '@sinclair/typebox';
import { AppError, invalidField } from '../../errors.ts';
import type { Call } from './mappings.ts';

/** Checks one argument of an action, which may be of any type. Throws 400. */
export type ArgumentReader<T> = (given: unknown, call?: Call) => T;

/** Returns what is wrong with a field that its schema accepts, or null. Reported together with the errors of the schema. */
type FieldChecks<T> = {
  readonly [K in keyof T]?: (value: NonNullable<T[K]>, call: Call) => string | null;
};

/** Per argument; HTTP has the same limits. */
const MAX_VALUES = 100_000;
const MAX_CHARACTERS = 1024 * 1024;

/**
 * Reads an argument that follows `schema`. It is copied through JSON first, so that actions accept what HTTP accepts, and
 * a getter cannot show one value to the validator and another to the service. `name` is the field of errors that concern
 * the whole argument.
 */
export function readInput<T extends TSchema>(
  schema: T,
  name = 'input',
  checks: FieldChecks<Static<T>> = {},
): ArgumentReader<Static<T>> {
  const validate = compileValidator(schema, name);
  return (given, call) => {
    const value = copyPlain(given, name);
    const unsafe = findUnsafeValue(value);
    if (unsafe) throw invalidField(unsafe.field || name, unsafe.message);
    const result = validate(value);
    const details = result.ok ? {} : result.details;
    const problems = call ? checkFields(value, details, checks, call) : {};
    if (result.ok && Object.keys(problems).length === 0) return result.value;
    throw new AppError('invalid', 'The input is not valid.', { ...details, ...problems });
  };
}

/** Checks the fields that the schema accepts. */
function checkFields<T>(value: unknown, details: FieldErrors, checks: FieldChecks<T>, call: Call): FieldErrors {
  const problems: FieldErrors = {};
  if (typeof value !== 'object' || value === null) return problems;
  const fields = value as Record<string, never>;
  for (const [field, check] of Object.entries(checks) as [string, (value: never, call: Call) => string | null][]) {
    const isAbsent = fields[field] === undefined || fields[field] === null;
    if (isAbsent || Object.keys(details).some((name) => name === field || name.startsWith(`${field}.`))) continue;
    const problem = check(fields[field] as never, call);
    if (problem !== null) problems[field] = [problem];
  }
  return problems;
}

/** As `readInput`, for an object that may be left out. */
export function readOptionalInput<T extends TSchema>(schema: T): ArgumentReader<Static<T>> {
  const read = readInput(schema);
  return (given, call) => read(given === undefined ? {} : given, call);
}

/** Throws 404 for an id that cannot exist, as for one that does not. */
export const readId: ArgumentReader<number> = (given) => {
  const id = parseId(readText(given));
  if (id === null) throw new AppError('not_found', 'Not found');
  return id;
};

export const readUuid: ArgumentReader<string> = (given) => {
  const id = readText(given);
  if (!isUuid(id)) throw new AppError('not_found', 'Not found');
  return id;
};

function readText(given: unknown): string {
  if (typeof given === 'string') return given;
  throw invalidField('id', given === undefined ? 'is required' : 'must be a string');
}

function copyPlain(given: unknown, name: string): unknown {
  let values = 0;
  let characters = 0;
  const count = (key: string, value: unknown) => {
    values += 1;
    characters += key.length + (typeof value === 'string' ? value.length : 0);
    if (values > MAX_VALUES || characters > MAX_CHARACTERS) throw new RangeError('too large');
    return value;
  };
  try {
    const text = JSON.stringify(given, count);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    // The error may come from a getter or a proxy of the caller: its message is not repeated.
    throw invalidField(name, 'must be plain data of at most 1 MiB');
  }
}
