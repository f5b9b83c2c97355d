/** How deep, and how wide, a parsed value may be. Also bounds how many validation errors one request can raise. */
export const DEEPEST = 32;
export const WIDEST = 1000;

export interface BadValue {
  /** Dotted path; empty for the value itself. */
  field: string;
  message: string;
}

/** Where the walk is: a value and, for its name, the way up to the root. */
interface Place {
  value: unknown;
  key: string;
  parent: Place | null;
  depth: number;
}

/**
 * Finds what no schema forbids and PostgreSQL or the stack does not survive: NUL characters and lone surrogates (in
 * values and in keys), depth beyond 32, more than 1,000 items or keys (decisions §4). Null when there is nothing.
 * It keeps its own stack, since 20,000 levels of a hostile body would overflow that of a recursion.
 */
export function findBadValue(value: unknown): BadValue | null {
  const open: Place[] = [{ value, key: '', parent: null, depth: 0 }];
  for (let place = open.pop(); place; place = open.pop()) {
    const { value, depth } = place;
    if (typeof value === 'string') {
      const message = badText(value);
      if (message) return { field: nameField(place), message };
    } else if (typeof value === 'object' && value !== null) {
      if (depth >= DEEPEST)
        return { field: nameField(place), message: `must not be nested deeper than ${DEEPEST} levels` };
      const keys = Object.keys(value);
      if (keys.length > WIDEST) {
        const unit = Array.isArray(value) ? 'items' : 'fields';
        return { field: nameField(place), message: `must have at most ${WIDEST} ${unit}` };
      }
      for (const key of keys) {
        const child = { value: (value as Record<string, unknown>)[key], key, parent: place, depth: depth + 1 };
        const message = badText(key);
        if (message) return { field: nameField(child), message: `${message} in its name` };
        open.push(child);
      }
    }
  }
  return null;
}

function badText(text: string): string | null {
  if (text.includes('\0')) return 'must not contain the NUL character';
  return text.isWellFormed() ? null : 'must not contain half a surrogate pair';
}

function nameField(place: Place): string {
  const names: string[] = [];
  for (let at: Place | null = place; at?.parent; at = at.parent) names.unshift(at.key);
  return clipField(names.join('.'));
}

/** A field's name is shown to the caller, and may be whatever the caller sent. */
export const clipField = (name: string) => name.replaceAll('\0', '').toWellFormed().slice(0, 200).toWellFormed();
