import { compileValidator, findUnsafeValue } from '@carillon/contract';
import { isUuid, parseId } from '@carillon/contract/primitives';
import type { Static, TSchema } from '@sinclair/typebox';
import { AppError, invalidField } from '../errors.ts';

/** Reads one argument of an action, which may be anything; what it does not take is refused. */
export type Reader<T> = (given: unknown) => T;

/** Values and characters of one argument: what the HTTP door reads at most. */
const MOST_VALUES = 100_000;
const MOST_CHARACTERS = 1024 * 1024;

/**
 * An argument that follows `schema`. It is read as JSON would carry it, so that both doors see the same, and only once:
 * a getter cannot say one thing to the validator and another to the verb. `name` stands in `details` for all of it.
 */
export function readAs<T extends TSchema>(schema: T, name = 'input'): Reader<Static<T>> {
  const check = compileValidator(schema, name);
  return (given) => {
    const value = copyPlain(given, name);
    const bad = findUnsafeValue(value);
    if (bad) throw invalidField(bad.field || name, bad.message);
    const checked = check(value);
    if (!checked.ok) throw new AppError('invalid', 'The input is not valid.', checked.details);
    return checked.value;
  };
}

/** As `readAs`, for an object that may be left out. */
export function readOptional<T extends TSchema>(schema: T): Reader<Static<T>> {
  const read = readAs(schema);
  return (given) => read(given === undefined ? {} : given);
}

/** The id in a text; one that cannot exist is refused as one that does not (decisions §4). */
export const readId: Reader<number> = (given) => {
  const id = parseId(readText(given));
  if (id === null) throw new AppError('not_found', 'Not found');
  return id;
};

/** As `readId`, for ids that are UUIDs. */
export const readUuid: Reader<string> = (given) => {
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
    if (values > MOST_VALUES || characters > MOST_CHARACTERS) throw new RangeError('too large');
    return value;
  };
  try {
    const text = JSON.stringify(given, count);
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    // Whatever a getter, a proxy or a circle has thrown is the caller's own, and may be hostile too.
    throw invalidField(name, 'must be plain data of at most 1 MiB');
  }
}
