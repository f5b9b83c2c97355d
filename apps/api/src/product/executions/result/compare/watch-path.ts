import { invalidItem } from '../../../../errors.ts';
export type WatchStep =
  | { kind: 'name'; name: string }
  | { kind: 'at'; index: number }
  | { kind: 'each' }
  /** Each element, recognized by the value of its field `key`. */
  | { kind: 'keyed'; key: string };

const NAME = /[^.[\]"\s]+/y;
/** `["a name"]`, a JSON string in brackets. */
const QUOTED = /\[("(?:[^"\\]|\\.)*")\]/y;
/** `[]`, `[0]` or `[version]` */
const ELEMENTS = /\[([^[\]"]*)\]/y;
const PLAIN_NAME = /^[^.[\]"\s]+$/;
const MAX_INDEX_DIGITS = 6;

/**
 * Parses a path such as `price`, `releases[].date`, `releases[0]`, `releases[version].date` or `["odd name"].value`. Returns
 * null if it is not valid; a name with white space must be quoted.
 */
export function parseWatchPath(path: string): WatchStep[] | null {
  const steps: WatchStep[] = [];
  let at = 0;
  const read = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(path);
    if (found) at = pattern.lastIndex;
    return found;
  };
  while (at < path.length) {
    const isFirst = at === 0;
    const hasDot = path[at] === '.' && !isFirst;
    if (hasDot) at++;
    if (isFirst || hasDot) {
      const name = read(NAME);
      if (name) {
        steps.push({ kind: 'name', name: name[0] });
        continue;
      }
      if (hasDot) return null;
    }
    const step = readBrackets(read);
    if (!step) return null;
    steps.push(step);
  }
  return steps.length > 0 ? steps : null;
}

function readBrackets(read: (pattern: RegExp) => RegExpExecArray | null): WatchStep | null {
  const quoted = read(QUOTED)?.[1];
  if (quoted !== undefined) {
    const name = parseString(quoted);
    return name === null ? null : { kind: 'name', name };
  }
  const inside = read(ELEMENTS)?.[1];
  if (inside === undefined) return null;
  if (inside === '') return { kind: 'each' };
  if (inside.trim() !== inside) return null;
  if (!/^\d+$/.test(inside)) return { kind: 'keyed', key: inside };
  return inside.length > MAX_INDEX_DIGITS ? null : { kind: 'at', index: Number(inside) };
}

function parseString(text: string): string | null {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** As `parseWatchPath` reads it. */
export const formatName = (name: string, isFirst: boolean): string =>
  PLAIN_NAME.test(name) ? `${isFirst ? '' : '.'}${name}` : `[${JSON.stringify(name)}]`;

/** Throws 400 naming the first path that is not valid. */
export function checkWatch(given: string[]): string[] {
  const at = given.findIndex((path) => parseWatchPath(path) === null);
  if (at >= 0)
    throw invalidItem('watch', at, 'must be a path such as price, releases[].date or releases[version].date');
  return given;
}

/** Where a value is in an output. Null is the whole. */
export type Place = { parent: Place; label: Label; depth: number } | null;

/** A field, the position of an element, or what an element is recognized by. */
type Label = { name: string } | number | { key: string; value: unknown };

/** Values that are deeper get the path of the value around them. */
const MAX_DEPTH = 64;
const MAX_PATH_LENGTH = 500;
const MAX_KEY_LENGTH = 100;

export function placeIn(parent: Place, label: Label): Place {
  const depth = parent === null ? 1 : parent.depth + 1;
  return depth > MAX_DEPTH ? parent : { parent, label, depth };
}

/** A path such as `releases[0].date` or `releases[version="1.2"].date`. */
export function formatPlace(place: Place): string {
  const parts: string[] = [];
  for (let at = place; at !== null; at = at.parent) parts.push(formatLabel(at.label, at.parent === null));
  const path = parts.reverse().join('');
  return path.length > MAX_PATH_LENGTH ? `${path.slice(0, MAX_PATH_LENGTH)}…` : path;
}

function formatLabel(label: Label, isFirst: boolean): string {
  if (typeof label === 'number') return `[${label}]`;
  if ('name' in label) return formatName(label.name, isFirst);
  const value = JSON.stringify(label.value);
  return `[${label.key}=${value.length > MAX_KEY_LENGTH ? `${value.slice(0, MAX_KEY_LENGTH)}…` : value}]`;
}
