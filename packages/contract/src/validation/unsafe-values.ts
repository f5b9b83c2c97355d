/** How deep, how wide and how large a parsed value may be; bounds also the errors that one request can raise. */
export const MAX_DEPTH = 32;
export const MAX_WIDTH = 1000;
export const MAX_VALUES = 100_000;

export interface UnsafeValue {
  /** Dotted path; empty for the value itself. */
  field: string;
  message: string;
}

/** Where the walk is: an object or array and, for its name, the way up to the root. */
interface Place {
  value: object;
  key: string;
  parent: Place | null;
  depth: number;
}

/**
 * Finds what no schema forbids and PostgreSQL or the stack does not survive: NUL characters and lone surrogates (in
 * values and in keys), depth beyond 32, more than 1,000 items or keys, more than 100,000 values in all (decisions §4).
 * Null when there is nothing. It keeps its own stack: 20,000 levels of a hostile body would overflow that of a recursion.
 */
export function findUnsafeValue(whole: unknown): UnsafeValue | null {
  if (typeof whole === 'string') return judge(badText(whole), null, '');
  if (!isContainer(whole)) return null;
  const open: Place[] = [{ value: whole, key: '', parent: null, depth: 0 }];
  let values = 0;
  for (let place = open.pop(); place; place = open.pop()) {
    const names = Object.keys(place.value);
    values += names.length;
    const bad = judge(badSize(place, names.length, values), place.parent, place.key);
    if (bad) return bad;
    for (const name of names) {
      const value: unknown = (place.value as Record<string, unknown>)[name];
      const message = badName(name) ?? (typeof value === 'string' ? badText(value) : null);
      if (message) return judge(message, place, name);
      if (isContainer(value)) open.push({ value, key: name, parent: place, depth: place.depth + 1 });
    }
  }
  return null;
}

/** Bytes are whatever they are: only parsed JSON, paths and queries are walked. */
const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);

function badSize({ value, depth }: Place, size: number, values: number): string | null {
  if (depth >= MAX_DEPTH) return `must not be nested deeper than ${MAX_DEPTH} levels`;
  if (size > MAX_WIDTH) return `must have at most ${MAX_WIDTH} ${Array.isArray(value) ? 'items' : 'fields'}`;
  return values > MAX_VALUES ? `must not bring the request above ${MAX_VALUES} values` : null;
}

function badName(name: string): string | null {
  const message = badText(name);
  return message && `${message} in its name`;
}

function badText(text: string): string | null {
  if (text.includes('\0')) return 'must not contain the NUL character';
  return text.isWellFormed() ? null : 'must not contain half a surrogate pair';
}

function judge(message: string | null, parent: Place | null, key: string): UnsafeValue | null {
  if (message === null) return null;
  const names = [key];
  for (let at = parent; at; at = at.parent) names.unshift(at.key);
  // The root has no name of its own.
  return { field: clipField(names.slice(1).join('.')), message };
}

/** A field's name is shown to the caller, and may be whatever the caller sent. */
export const clipField = (name: string) => name.replaceAll('\0', '').toWellFormed().slice(0, 200).toWellFormed();
