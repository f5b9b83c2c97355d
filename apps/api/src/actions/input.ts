import { compileValidator, findUnsafeValue } from '@carillon/contract';
import { isUuid, parseId } from '@carillon/contract/primitives';
import type { Static, TSchema } from '@sinclair/typebox';
import { AppError, invalidField } from '../errors.ts';

/** Checks one argument of an action, which may be of any type. Throws 400. */
export type ArgumentReader<T> = (given: unknown) => T;

/** Per argument; HTTP has the same limits. */
const MAX_VALUES = 100_000;
const MAX_CHARACTERS = 1024 * 1024;

/**
 * Reads an argument that follows `schema`. It is copied through JSON first, so that actions accept what HTTP accepts, and
 * a getter cannot show one value to the validator and another to the service. `name` is the field of errors that concern
 * the whole argument.
 */
export function readInput<T extends TSchema>(schema: T, name = 'input'): ArgumentReader<Static<T>> {
  const validate = compileValidator(schema, name);
  return (given) => {
    const value = copyPlain(given, name);
    const unsafe = findUnsafeValue(value);
    if (unsafe) throw invalidField(unsafe.field || name, unsafe.message);
    const result = validate(value);
    if (!result.ok) throw new AppError('invalid', 'The input is not valid.', result.details);
    return result.value;
  };
}

/** As `readInput`, for an object that may be left out. */
export function readOptionalInput<T extends TSchema>(schema: T): ArgumentReader<Static<T>> {
  const read = readInput(schema);
  return (given) => read(given === undefined ? {} : given);
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
