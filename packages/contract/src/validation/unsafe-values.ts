/** Bounds of a parsed value. They also bound the number of errors that one request can raise. */
export const MAX_DEPTH = 32;
export const MAX_WIDTH = 1000;
export const MAX_VALUES = 100_000;

export interface UnsafeValue {
  /** Dotted path, up to the first list; empty for the root. */
  field: string;
  message: string;
}

/** An object or array with the path to it. */
interface Container {
  value: object;
  key: string;
  parent: Container | null;
  depth: number;
}

/**
 * Finds values that schemas do not reject but PostgreSQL or the stack cannot handle: NUL characters and lone surrogates
 * in values and keys, and values too deep, too wide or too large. Null if there are none. Iterative, because 20,000
 * levels would overflow the stack of a recursion.
 */
export function findUnsafeValue(root: unknown): UnsafeValue | null {
  if (typeof root === 'string') return toUnsafeValue(root, checkText(root), null, '');
  if (!isContainer(root)) return null;
  const stack: Container[] = [{ value: root, key: '', parent: null, depth: 0 }];
  let values = 0;
  for (let container = stack.pop(); container; container = stack.pop()) {
    const names = Object.keys(container.value);
    values += names.length;
    const bad = toUnsafeValue(root, checkSize(container, names.length, values), container.parent, container.key);
    if (bad) return bad;
    for (const name of names) {
      const value: unknown = (container.value as Record<string, unknown>)[name];
      const message = checkName(name) ?? (typeof value === 'string' ? checkText(value) : null);
      if (message) return toUnsafeValue(root, message, container, name);
      if (isContainer(value)) stack.push({ value, key: name, parent: container, depth: container.depth + 1 });
    }
  }
  return null;
}

// Binary data is opaque.
const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);

function checkSize({ value, depth }: Container, size: number, values: number): string | null {
  if (depth >= MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`;
  if (size > MAX_WIDTH) return `must have at most ${MAX_WIDTH} ${Array.isArray(value) ? 'items' : 'fields'}`;
  return values > MAX_VALUES ? `must not bring the request above ${MAX_VALUES} values` : null;
}

function checkName(name: string): string | null {
  const message = checkText(name);
  return message && `${message} in its name`;
}

function checkText(text: string): string | null {
  if (text.includes('\0')) return 'must not contain the NUL character';
  return text.isWellFormed() ? null : 'must not contain half a surrogate pair';
}

function toUnsafeValue(
  root: unknown,
  message: string | null,
  parent: Container | null,
  key: string,
): UnsafeValue | null {
  if (message === null) return null;
  const names = [key];
  for (let at = parent; at; at = at.parent) names.unshift(at.key);
  // The root has no name.
  return locateError(root, names.slice(1), message);
}

/** The message of an error in item `at` of a list, which is reported under the name of the list. */
export const toItemMessage = (at: number, message: string): string => `item ${at + 1} ${message}`;

/** What `toItemMessage` was given; null for the message of another error. */
export function readItemMessage(text: string): { at: number; message: string } | null {
  const [, item, message = ''] = /^item (\d+) (.*)$/s.exec(text) ?? [];
  return item === undefined ? null : { at: Number(item) - 1, message };
}

/** The field of an error at `path` in `root`: dotted, up to the first list. The message names the item of the list. */
export function locateError(
  root: unknown,
  path: readonly string[],
  message: string,
): { field: string; message: string } {
  let value = root;
  for (const [depth, name] of path.entries()) {
    if (Array.isArray(value)) {
      const inner = sanitizeFieldName(path.slice(depth + 1).join('.'));
      const inItem = inner === '' ? message : `${inner} ${message}`;
      return {
        field: sanitizeFieldName(path.slice(0, depth).join('.')),
        message: toItemMessage(Number(name), inItem),
      };
    }
    value = (value as Record<string, unknown> | undefined)?.[name];
  }
  return { field: sanitizeFieldName(path.join('.')), message };
}

/** Makes a field name that the caller sent safe to return. */
const sanitizeFieldName = (name: string) => name.replaceAll('\0', '').toWellFormed().slice(0, 200).toWellFormed();

/** Removes NUL and lone surrogates, which PostgreSQL rejects, and cuts at `limit` UTF-16 units without splitting a pair. */
export function toStorableText(text: string, limit: number): string {
  const clean = (text.length > limit ? text.slice(0, limit) : text).replaceAll('\u0000', '');
  return (text.length > limit ? clean.replace(/[\uD800-\uDBFF]$/, '') : clean).toWellFormed();
}

/** Replaces each run of white space and control characters with one space, for texts that must be one line. */
export const toOneLine = (text: string): string => text.replace(/[\p{Cc}\s]+/gu, ' ').trim();

/** Like `toStorableText` for text that arrives in chunks. Each is passed to `onText` as soon as possible. */
export function createStorableTextStream(limit: number, onText: (text: string) => void) {
  let remaining = limit;
  let highSurrogate = '';
  const emit = (text: string) => {
    const clean = toStorableText(text, text.length);
    if (clean) onText(clean);
  };
  return {
    add(chunk: string) {
      const text = highSurrogate + chunk.slice(0, remaining).replaceAll('\u0000', '');
      highSurrogate = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? '';
      emit(highSurrogate ? text.slice(0, -1) : text);
      if (chunk.length > remaining) highSurrogate = '';
      remaining -= Math.min(chunk.length, remaining);
    },
    end() {
      emit(highSurrogate);
    },
  };
}
